#!/usr/bin/env bash
# Run by hand before a release: puts the mistakes of scripts/mistakes/areas/ into a copy of the sources, one at a
# time, and runs the tests that must notice it. Fails if one is not noticed. Takes half an hour or longer. Record
# 163 has the reasons.
#
#   scripts/check-mistakes.sh [--area AREA] [--only TEXT]
#
# TEXT is a part of a guarantee, of its file or of its test file.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent build
# Apart from the build, because it needs Vitest, which an installation for production lacks.
npx tsc -p scripts/mistakes
exec node dist/scripts/mistakes.js "$@"
