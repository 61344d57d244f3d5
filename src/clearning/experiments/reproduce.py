"""Everything `clearning reproduce` does: find the data, run the tasks, write the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from joblib import cpu_count

from clearning import __version__
from clearning.commands._common import warn
from clearning.datasets import DatasetError
from clearning.experiments.document import Picture, to_html, to_markdown
from clearning.experiments.protocol import FULL, QUICK, Protocol
from clearning.experiments.report import write_report
from clearning.experiments.results import ResultStore, Task, run, write_text
from clearning.experiments.sets import SETTINGS, load, set_tasks
from clearning.experiments.simulations import simulation_tasks
from clearning.experiments.studies import STUDIED, study_tasks
from clearning.experiments.summary import summarise


def reproduce(
    parts: Sequence[str],
    out: Path,
    *,
    quick: bool = False,
    jobs: int | None = None,
    seed: int = 2012,
) -> list[Path]:
    """Run parts of the experiments and write results and report.

    Parameters
    ----------
    parts : sequence of {"simulations", "features", "kernels", "figures"}
        What to run.
    out : Path
        Folder for results; finished tasks in it are not done again.
    quick : bool, default=False
        Whether to run the small sample of everything.
    jobs : int, default=None
        Number of processes; by default one for each core.
    seed : int, default=2012
        Seed of all random choices.

    Returns
    -------
    list of Path
        The files written: `results.json`, `report.html` and `report.md`.
    """
    _require_matplotlib()
    protocol = replace(QUICK if quick else FULL, seed=seed)
    missing = _find_missing(protocol, parts)
    names = (*protocol.sets, *protocol.supplement)
    tasks = _plan(protocol, parts, tuple(name for name in names if name not in missing))
    if not tasks:
        raise DatasetError(f"no data set could be found: {next(iter(missing.values()))}")
    store = ResultStore(out / f"tasks-{protocol.fingerprint()}")
    outcomes = run(tasks, store, jobs or cpu_count(), label="Reproducing the paper")
    return _write(out, protocol, outcomes, missing)


def _require_matplotlib() -> None:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError(
            "`clearning reproduce` draws figures with matplotlib: pip install 'clearning[plots]'"
        ) from error
    mpl.use("Agg")


def _find_missing(protocol: Protocol, parts: Sequence[str]) -> dict[str, str]:
    """Load every set once, before any work, and return why some are not to be had."""
    missing = {}
    wanted: tuple[str, ...] = STUDIED if "figures" in parts else ()
    if set(parts) & set(SETTINGS):
        wanted = (*protocol.sets, *protocol.supplement)
    for name in wanted:
        try:
            load(name)
        except DatasetError as error:
            missing[name] = str(error)
            warn(f"{name} is left out: {error}")
    return missing


def _plan(protocol: Protocol, parts: Sequence[str], present: tuple[str, ...]) -> list[Task]:
    tasks = []
    if "simulations" in parts:
        tasks += simulation_tasks(protocol)
    for setting in SETTINGS:
        if setting in parts:
            tasks += set_tasks(protocol, setting, present)
    if "figures" in parts:
        tasks += study_tasks(protocol, present)
    # The longest first, so that no process is left with one at the end.
    return sorted(tasks, key=lambda task: not task.key.startswith("convergence"))


def _write(
    out: Path, protocol: Protocol, outcomes: dict[str, Any], missing: dict[str, str]
) -> list[Path]:
    from matplotlib import pyplot as plt

    from clearning.experiments.pictures import all_pictures, as_address, as_svg

    tables = summarise(protocol, outcomes)
    pictures = []
    for number, (title, figure) in enumerate(all_pictures(tables, outcomes).items(), start=1):
        svg = as_svg(figure)
        plt.close(figure)
        pictures.append(Picture(title, as_address(svg), f"figures/{number}.svg"))
        write_text(out / pictures[-1].file, svg)
    document = write_report(protocol, tables, missing, pictures)
    results = {
        "version": __version__,
        "protocol": asdict(protocol),
        "missing": missing,
        "tables": tables,
        "tasks": outcomes,
    }
    files = {
        "results.json": json.dumps(results, indent=1, sort_keys=True) + "\n",
        "report.html": to_html(document),
        "report.md": to_markdown(document),
    }
    for name, text in files.items():
        write_text(out / name, text)
    return [out / name for name in files]
