#!/bin/sh
# Comments on the lines of a pull request with reviewdog (https://github.com/reviewdog/reviewdog), from any CI.
# BASE names the branch that the change is for; reviewdog wants REVIEWDOG_GITHUB_API_TOKEN or its like.
set -eu
eagle3-lint check --since "${BASE:-origin/main}...HEAD" --exit-zero --format sarif --output eagle3-lint.sarif
reviewdog -f=sarif -name=eagle3-lint -reporter="${REPORTER:-github-pr-review}" -filter-mode=nofilter \
    -fail-level=error <eagle3-lint.sarif
