"""Tells of a run of the workflow bpsw, in Markdown."""


def handler(run):
    """Takes what the steps of a run came to, and returns a text."""
    answer = {name: step.get("answer") for name, step in run["steps"].items()}
    search, count, decided = answer["search"], answer["count"], answer["verdicts"]
    first = int(run["parameters"]["from"])
    return f"""# Primes from {first} to {first + int(run["parameters"]["length"]) - 1}

| | how many | by what |
| --- | --- | --- |
| claimed | {search["primes"]} | pass Baillie-PSW; {search["pseudoprimes"]} pass its first half alone |
| confirmed | {count["primes"]} | are left by a sieve, which tests no number |
| decided | {decided} | of the {len(search["sample"])} that were sampled, each with evidence that a validator has checked |

Run {run["run"]}, version {run["version"]} of {run["workflow"]}.
"""
