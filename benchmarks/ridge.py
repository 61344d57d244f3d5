"""Ridge on wide sparse data: single cold fits beside scikit-learn's default.

python benchmarks/ridge.py --only rt_polarity-train
"""

from __future__ import annotations

import argparse

from matched import Bench, Problem, cell, ratio
from peers import OURS, PEERS
from report import Section, Table, Target, targets_table
from workloads import Missing, load

WORKLOADS = ["rt_polarity-train", "basehock", "dorothea", "sparse5000x20000"]
INVERSE_PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
RIVAL = "lbfgs"
MOST = 2.0


def section(names: list[str] = WORKLOADS, **options) -> Section:
    result = Section("Ridge on wide sparse data: single cold fits, logistic loss, one thread")
    result.text(
        "Seconds (smallest of several) and, in parentheses, the relative suboptimality; α is "
        "1/(nC). Ours are seconds to a gap of 1e-6 that is proved; the peer's is measured."
    )
    sides = [RIVAL, OURS]
    rows = Table(["workload", "C", *[PEERS[side].label for side in sides], "ours / it"])
    bench = Bench(1, **options)
    for name in names:
        try:
            load(name)
        except Missing as reason:
            result.text(f"Skipped: {name} ({reason}).")
            continue
        for C in INVERSE_PENALTIES:
            found = bench.outcomes(Problem(name, 0.0, f"C={C:g}"), sides)
            share = ratio(found)
            cells = [cell(found[side]) for side in sides]
            rows.add(name, f"{C:g}", *cells, "–" if share is None else f"{share:.2f}")
            result.targets.append(Target(f"ridge {name}, C = {C:g}, of lbfgs", MOST, share))
    bench.close()
    result.table(rows)
    return result


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(WORKLOADS), help="workloads, comma-separated")
    parser.add_argument("--reuse-peers", action="store_true", help="the peer's from the cache")
    arguments = parser.parse_args(argv)
    found = section(arguments.only.split(","), reuse_peers=arguments.reuse_peers)
    print(found)
    print(targets_table(found.targets))


if __name__ == "__main__":
    main()
