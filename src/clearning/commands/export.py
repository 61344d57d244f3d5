"""`clearning export`: a model as an ONNX graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from clearning._words import count
from clearning.commands._common import add_json, tell, warn
from clearning.commands._outputs import check_output


def add_parser(subparsers: Any) -> None:
    """Add the command to `clearning`."""
    parser = subparsers.add_parser(
        "export",
        help="write a model as an ONNX graph",
        description="Write a model as an ONNX graph, which other systems run.",
    )
    parser.add_argument("model", type=Path, help="a skops file of a model")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FILE", help="model.onnx")
    parser.add_argument("--float32", action="store_true", help="compute in single precision")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Convert and write."""
    from clearning.export import save_onnx, to_onnx
    from clearning.tables.model import load_model, version_note

    check_output(args.out, [args.model])
    model = load_model(args.model)
    warn(version_note(model, args.model))
    graph = to_onnx(model, double=not args.float32)
    save_onnx(graph, args.out)
    inputs = [one.name for one in graph.graph.input]
    outputs = [one.name for one in graph.graph.output]
    facts = {"inputs": inputs, "outputs": outputs, "written": str(args.out)}
    lines = [f"{count(len(inputs), 'input')}; outputs {', '.join(outputs)}", f"wrote {args.out}"]
    tell(lines, facts, args.json)
    return 0
