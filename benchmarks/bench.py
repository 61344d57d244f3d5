"""All workloads, Markdown on standard output and in RESULTS.md.

python benchmarks/bench.py            everything (hours)
python benchmarks/bench.py --quick    a sample, in under five minutes, printed only
python benchmarks/bench.py --only kernel,growth    these sections again, the others kept
python benchmarks/bench.py --reuse-peers    our own seconds again, peers' from the cache

A section is kept in sections/ when it is done, with its date, machine and revision, so that a run
can be ended and gone on with by --only, on another machine too; RESULTS.md is made of those kept.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import cross_validation
import growth
import kernel
import linear
import memory
import multinomial
import ridge
import temperature
import threads
from calibration import speed as calibration_speed
from calibration import study as calibration_study
from kernel_quality import study as kernel_quality_study
from peers import CLOCK, ON_PATHS, OURS, PEERS, Unavailable
from report import Section, Table, Target, targets_table
from workloads import LINEAR, SIMULATED, SPARSE, drawn

RESULTS = Path(__file__).with_name("RESULTS.md")
SECTIONS = Path(__file__).with_name("sections")
BOTH = [1.0, 0.5]
COMPILED = [peer for peer in ON_PATHS if peer != "scikit-learn"]
SHORT = ["glmnet-r", "adelie", OURS]


def full_sections(seed: int, **reuse: bool) -> dict[str, Callable[[], Section]]:
    return {
        "linear": lambda: linear.section(
            "Linear paths of 100 penalties, logistic loss, one thread",
            names=LINEAR,
            l1_ratios=BOTH,
            peers=ON_PATHS,
            **reuse,
        ),
        "drawn": lambda: linear.section(
            f"Shapes that nobody has tuned for, drawn from seed {seed}, one thread",
            names=drawn(seed),
            l1_ratios=BOTH,
            peers=COMPILED,
            most=0.7,
            **reuse,
        ),
        "two-threads": lambda: linear.section(
            "Linear paths of 100 penalties, logistic loss, two threads",
            names=SIMULATED + SPARSE,
            l1_ratios=BOTH,
            peers=["glmnet-r", "adelie", OURS],
            threads=2,
            most=1.0,
            **reuse,
        ),
        "single": lambda: linear.section(
            "Single cold fits at a tenth of the largest penalty, logistic loss, one thread",
            names=LINEAR,
            l1_ratios=BOTH,
            peers=COMPILED,
            grid="single",
            most=1.0,
            **reuse,
        ),
        "ridge": lambda: ridge.section(**reuse),
        "loss": lambda: linear.loss_section(SIMULATED + SPARSE, BOTH),
        "multinomial": lambda: multinomial.section(list(multinomial.WORKLOADS), **reuse),
        "cross-validation": lambda: cross_validation.section(
            cross_validation.WORKLOADS, BOTH, **reuse
        ),
        "kernel": lambda: kernel.probabilities_section([1000, 5000, 20_000], **reuse),
        "kernel-path": lambda: kernel.path_section([500, 2000], **reuse),
        "landmarks": lambda: kernel.landmarks_section([20_000, 200_000], **reuse),
        "hinge": lambda: temperature.linear_section(["a9a", "rt_polarity"], **reuse),
        "kernel-hinge": lambda: temperature.kernel_section([5000], **reuse),
        "cooling": lambda: temperature.cooling_section(),
        "growth": lambda: growth.section(growth.SIZES),
        "memory": lambda: memory.section(),
        "threads": lambda: threads.section(),
        "kernel-quality": kernel_quality_study.section,
        "calibration": calibration_study.section,
        "calibration-speed": calibration_speed.section,
    }


def quick_sections() -> dict[str, Callable[[], Section]]:
    return {
        "linear": lambda: linear.section(
            "Linear paths of 100 penalties, logistic loss, one thread",
            names=["62x2000", "72x7129", "200x20000", "5000x500"],
            l1_ratios=[1.0],
            peers=SHORT,
        ),
        "single": lambda: linear.section(
            "Single cold fits at a tenth of the largest penalty, one thread",
            names=["72x7129", "5000x500"],
            l1_ratios=[1.0],
            peers=SHORT,
            grid="single",
            most=1.0,
        ),
        "loss": lambda: linear.loss_section(["72x7129", "5000x500"], [1.0], repeats=3),
        "multinomial": lambda: multinomial.section(["wine", "digits"]),
        "cross-validation": lambda: cross_validation.section(["72x7129"], [1.0], repeats=1),
        "kernel-path": lambda: kernel.path_section([200], l1_ratios=(0.5,), repeats=2),
        "cooling": lambda: temperature.cooling_section("62x2000", l1_ratios=(1.0,)),
    }


def run(
    sections: dict[str, Callable[[], Section]], names: list[str], *, reused: bool = False
) -> dict[str, Section]:
    """Builds the sections named, prints each when it is ready, and keeps it on disk."""
    built = {}
    for name in names:
        start = time.perf_counter()
        section = sections[name]()
        taken = time.perf_counter() - start
        section.text(
            f"Measured on {datetime.date.today()} in {taken:.0f} s: {machine()}, "
            f"{CLOCK} time, revision {revision()}{', peers from the cache' * reused}."
        )
        print(f"\n{section}", flush=True)
        built[name] = section
    return built


def keep(built: dict[str, Section]) -> None:
    SECTIONS.mkdir(exist_ok=True)
    for name, section in built.items():
        (SECTIONS / f"{name}.json").write_text(json.dumps(asdict(section), indent=1) + "\n")


def kept(names: list[str]) -> list[Section]:
    found = []
    for name in names:
        path = SECTIONS / f"{name}.json"
        if path.exists():
            stored = json.loads(path.read_text())
            targets = [Target(**target) for target in stored.pop("targets")]
            found.append(Section(**stored, targets=targets))
    return found


# ---------------------------------------------------------------- the head of RESULTS.md


def machine() -> str:
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":")[1].strip()
            break
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {gigabytes:.0f} GB, {platform.system()}"


def versions() -> Table:
    table = Table(["package", "version"])
    table.add("Python", platform.python_version())
    for name in ("numpy", "scipy", "scikit-learn-intelex"):
        try:
            table.add(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            table.add(name, "missing")
    for peer in PEERS.values():
        try:
            table.add(peer.label, peer.version())
        except Unavailable as reason:
            table.add(peer.label, f"missing: {reason}")
    return table


def revision() -> str:
    words = ["git", "-C", str(RESULTS.parent), "rev-parse", "--short", "HEAD"]
    answer = subprocess.run(words, capture_output=True, text=True)
    return answer.stdout.strip() or "unknown"


def document(sections: list[Section]) -> str:
    targets = [target for section in sections for target in section.targets]
    short = sum(target.verdict == "**short**" for target in targets)
    unknown = sum(target.reached is None for target in targets)
    parts = [
        "# Benchmark results\n",
        "Written by `make bench`. Seconds are the smallest of several; every solver gets the same "
        "data and the same penalties. Simulated designs are Gaussian with AR(1) correlation 0.5; "
        "dense real data have standardised columns, sparse ones are as they are. The end of a "
        "section says when, where and on which revision it was measured, and whether the peers' "
        "seconds are older.\n",
        str(versions()),
        "## Targets\n",
        f"{len(targets) - short - unknown} reached, {short} short, {unknown} not measured.\n",
        str(targets_table(targets)),
        *[str(section) for section in sections],
    ]
    return "\n".join(parts)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a sample, printed only")
    parser.add_argument("--only", help="sections, comma-separated")
    parser.add_argument("--reuse-peers", action="store_true", help="peers' seconds from the cache")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 100_000, help="of the shapes")
    arguments = parser.parse_args(argv)
    seed, reuse = arguments.seed, arguments.reuse_peers
    sections = quick_sections() if arguments.quick else full_sections(seed, reuse_peers=reuse)
    names = arguments.only.split(",") if arguments.only else list(sections)
    unknown = sorted(set(names) - set(sections))
    if unknown:
        parser.error(f"unknown sections {unknown}; there are {list(sections)}")
    start = time.perf_counter()
    if arguments.quick:
        built = run(sections, names)
        targets = [target for section in built.values() for target in section.targets]
        print(f"\n## Targets\n\n{targets_table(targets)}")
    else:
        for name in names:  # kept one by one, so that an interrupted run loses one section
            keep(run(sections, [name], reused=reuse))
            RESULTS.write_text(document(kept(list(sections))))
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
