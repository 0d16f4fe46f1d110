#!/usr/bin/env bash
# Puts the Autobahn test suite below target/tools and a `wstest` on the tools' path. The suite runs on Python 2.7 only,
# which Debian no longer has; whichever interpreter is found does.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

tools="$PWD/target/tools"
packages="$tools/autobahn"
wanted=conformance/autobahn/requirements.txt
log="$tools/install.log"
mkdir -p "$tools/bin"

# The copy of the list tells whether what is installed is what is wanted.
[ -x "$tools/bin/wstest" ] && cmp -s "$wanted" "$packages/requirements.txt" && exit 0

python=""
for candidate in python2.7 python2 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/2.7*/bin/python /usr/local/bin/python2.7; do
    # A shim may stand on the path with nothing behind it.
    if "$candidate" -c 'import sys, pip; sys.exit(sys.version_info[:2] != (2, 7))' >/dev/null 2>&1; then
        python=$(command -v "$candidate")
        break
    fi
done
if [ -z "$python" ]; then
    echo "SKIP autobahn: needs Python 2.7 with pip, which is not here; pyenv install 2.7.18 builds one"
    exit 0
fi

echo "installing the Autobahn test suite"
rm -rf "$packages"
if ! "$python" -m pip install --disable-pip-version-check --quiet --target "$packages" -r "$wanted" >>"$log" 2>&1 </dev/null; then
    echo "SKIP autobahn: pip cannot install it, see target/tools/install.log"
    exit 0
fi
cp "$wanted" "$packages/requirements.txt"

# addsitedir reads the .pth files that zope.interface needs; PYTHONPATH would not.
cat >"$tools/bin/wstest" <<SCRIPT
#!/bin/sh
exec "$python" -W ignore -c 'import site, sys; site.addsitedir("$packages"); sys.argv[0] = "wstest"; from autobahntestsuite.wstest import run; run()' "\$@"
SCRIPT
chmod +x "$tools/bin/wstest"
