# Runs the pip that lies in the folder argv[1] with the arguments behind argv[2], and writes into the file argv[2] which files it has left
# out and why. Nothing is ever built: a build runs the code of a package.
import json
import sys

MOST_SKIPPED = 1000

sys.path.insert(0, sys.argv[1])

from pip._internal.cli.main import main  # noqa: E402
from pip._internal.distributions.sdist import SourceDistribution  # noqa: E402
from pip._internal.exceptions import InstallationError  # noqa: E402
from pip._internal.index.package_finder import LinkType, PackageFinder  # noqa: E402


def refuse(self, *_args, **_kwargs):
    raise InstallationError(f"{self.req} is no wheel: it would have to be built, and that runs its code")


# --only-binary is not asked about folders, repositories and archives that are named directly.
SourceDistribution.prepare_distribution_metadata = refuse

skipped = []
pass_over = PackageFinder._log_skipped_link


def note(self, link, result, detail):
    if result is not LinkType.different_project and len(skipped) < MOST_SKIPPED:
        skipped.append({"file": link.filename, "kind": result.name, "detail": detail})
    pass_over(self, link, result, detail)


PackageFinder._log_skipped_link = note

code = main(sys.argv[3:])
with open(sys.argv[2], "w", encoding="utf-8") as out:
    json.dump(skipped, out)
sys.exit(code)
