#!/bin/sh
# Sets up this checkout: checks Node and the native libraries of node-canvas, installs the locked packages, builds.
#
#   ./setup.sh
#
# Node 20.15, 22 and 24 are tested (.github/workflows/ci.yml).
#
# From any folder, as often as wanted: what is in place already is left alone. As root on Debian or Ubuntu it installs
# missing native libraries itself; elsewhere it says which they are and how to get them.
#
# SKIP_NATIVE_CHECK=1 leaves out the check of the native libraries, for a machine that can download node-canvas's
# prebuilt binary from GitHub and needs none of them.
set -eu

# As src/core/node-version.ts has it.
NODE_NEEDED='20.15 or newer (not 21, 22.0 or 22.1)'
APT_PACKAGES='build-essential pkg-config python3 libcairo2-dev libpango1.0-dev libjpeg-dev libgif-dev librsvg2-dev'
BREW_PACKAGES='pkg-config cairo pango libpng jpeg giflib librsvg'
# Where npm ci left the Node version and platform that it installed for.
INSTALL_STAMP=node_modules/.setup-node
# Hash of the sources that dist was built from.
BUILD_STAMP=dist/.setup-sources

caller=$(pwd)
CDPATH='' cd -- "$(dirname -- "$0")"
checkout=$(pwd)

log=$(mktemp "${TMPDIR:-/tmp}/critic-traces-setup.XXXXXX")
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf 'setup: %s\n' "$*"; }
complain() { printf 'setup: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# quietly <what> <command>...: the command's output is shown only when it fails, and then its end.
quietly() {
  what=$1
  shift
  say "$what ..."
  code=0
  "$@" >"$log" 2>&1 </dev/null || code=$?
  [ "$code" -eq 0 ] && return 0
  complain "$what failed with exit code $code; the end of its output:"
  tail -n 40 "$log" | sed 's/^/  /' >&2
  return "$code"
}

node_help() {
  complain "$1, $NODE_NEEDED is needed. Ways to get it:"
  printf '  %s\n' \
    'https://nodejs.org/en/download   installer or archive; 20.15, 22 and 24 are tested' \
    'nvm install 24                   with nvm (https://github.com/nvm-sh/nvm)' \
    'brew install node@24             with Homebrew' >&2
  exit 1
}

check_node() {
  have node || node_help 'Node.js was not found'
  version=$(node -p process.versions.node 2>/dev/null) || version=''
  major=${version%%.*}
  rest=${version#*.}
  minor=${rest%%.*}
  case $major:$minor in
    *[!0-9:]* | :* | *:) node_help "The version of $(command -v node) could not be read" ;;
  esac
  if [ "$major" -lt 20 ] || { [ "$major" -eq 20 ] && [ "$minor" -lt 15 ]; } || [ "$major" -eq 21 ] || { [ "$major" -eq 22 ] && [ "$minor" -lt 2 ]; }; then
    node_help "Node $version was found ($(command -v node))"
  fi
  have npm || node_help "Node $version was found without npm"
}

# Prints nothing when node_modules holds what package-lock.json says, for this Node, and node-canvas loads; else why not.
install_needed() {
  node - "$INSTALL_STAMP" <<'EOF'
const fs = require('node:fs')
const read = path => { try { return fs.readFileSync(path, 'utf8') } catch { return null } }
const packages = text => { try { return JSON.parse(text).packages } catch { return null } }

function reason() {
  const wanted = packages(read('package-lock.json'))
  const present = packages(read('node_modules/.package-lock.json'))
  if (!wanted || !present) return 'not installed yet'
  for (const [path, { version, integrity }] of Object.entries(present)) {
    if (wanted[path]?.version !== version || wanted[path].integrity !== integrity) return `${path} is not the locked one`
  }
  for (const [path, entry] of Object.entries(wanted)) {
    // Optional packages of other platforms are in the lock only.
    if (path !== '' && !entry.optional && !entry.devOptional && !present[path]) return `${path} is missing`
  }
  const stamp = read(process.argv[2])
  if (stamp !== null && stamp.trim() !== here) return `installed for Node ${stamp.trim()}, this is ${here}`
  try {
    require('canvas')
  } catch (error) {
    return `node-canvas does not load: ${String(error.message).split('\n')[0]}`
  }
  return ''
}

const here = `${process.versions.node.split('.')[0]} ${process.platform} ${process.arch}`
process.stdout.write(reason())
EOF
}

# Lists what a build of node-canvas needs and this machine lacks, one a line.
missing_native() {
  have c++ || have g++ || have clang++ || echo 'a C++ compiler'
  have make || echo make
  have python3 || echo python3
  if have pkg-config; then
    for library in cairo pangocairo pixman-1 libpng freetype2; do
      pkg-config --exists "$library" || echo "$library"
    done
  else
    echo 'pkg-config (cairo, pangocairo, pixman-1, libpng and freetype2 could not be looked for)'
  fi
}

check_native() {
  missing=$(missing_native)
  [ -z "$missing" ] && return 0
  complain 'node-canvas is built from source; missing for that:'
  printf '%s\n' "$missing" | sed 's/^/  /' >&2

  if [ "$(uname -s)" = Darwin ]; then
    complain 'install them and run this again:'
    printf '  %s\n' 'xcode-select --install' "brew install $BREW_PACKAGES" >&2
    exit 1
  fi
  if ! have apt-get; then
    complain 'install the development packages of these libraries and run this again; node-canvas names them for each system:'
    printf '  %s\n' 'https://github.com/Automattic/node-canvas#compiling' >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    complain 'install them and run this again (or run this as root):'
    printf '  %s\n' 'sudo apt-get update' "sudo apt-get install -y $APT_PACKAGES" >&2
    exit 1
  fi

  export DEBIAN_FRONTEND=noninteractive
  # A mirror that does not answer need not be fatal: the packages may be known already.
  quietly 'apt-get update' apt-get update || true
  # shellcheck disable=SC2086 # a list of words
  quietly "apt-get install -y $APT_PACKAGES" apt-get install -y $APT_PACKAGES || exit 1
  missing=$(missing_native)
  if [ -n "$missing" ]; then
    complain 'still missing after the installation:'
    printf '%s\n' "$missing" | sed 's/^/  /' >&2
    exit 1
  fi
}

# Folder whose include/node holds the headers of the running Node; nothing where there are none. With it a build of
# node-canvas downloads no headers.
node_prefix() {
  node - <<'EOF'
const { dirname, join } = require('node:path')
const prefix = dirname(dirname(require('node:fs').realpathSync(process.execPath)))
let header = ''
try { header = require('node:fs').readFileSync(join(prefix, 'include/node/node_version.h'), 'utf8') } catch { /* no headers there */ }
const [major, minor] = ['MAJOR', 'MINOR'].map(part => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(header)?.[1])
if (`${major}.${minor}` === process.versions.node.split('.').slice(0, 2).join('.')) process.stdout.write(prefix)
EOF
}

install_packages() {
  why=$(install_needed)
  [ -z "$why" ] && { stamp_install; return 0; }
  if [ -L node_modules ]; then
    complain "node_modules is a link ($why); npm ci would empty the folder that it points at. Install there, or remove the link."
    exit 1
  fi
  [ "${SKIP_NATIVE_CHECK:-}" = 1 ] || check_native
  prefix=$(node_prefix)
  if [ -n "$prefix" ] && [ -z "${npm_config_nodedir:-}" ]; then export npm_config_nodedir="$prefix"; fi
  quietly 'npm ci' npm ci --no-audit --no-fund || exit 1
  why=$(install_needed)
  if [ -n "$why" ]; then
    complain "npm ci has run, but $why"
    exit 1
  fi
  stamp_install
}

stamp_install() {
  # shellcheck disable=SC2016 # JavaScript's own template
  [ -f "$INSTALL_STAMP" ] || node -p '`${process.versions.node.split(".")[0]} ${process.platform} ${process.arch}`' >"$INSTALL_STAMP"
}

# Hash of the names and contents of everything that the build reads.
hash_sources() {
  node - <<'EOF'
const fs = require('node:fs')
const hash = require('node:crypto').createHash('sha256')
function add(path) {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory()) for (const name of fs.readdirSync(path).sort()) add(`${path}/${name}`)
  else if (stat?.isFile()) hash.update(`${path}\0${stat.size}\0`).update(fs.readFileSync(path))
}
for (const path of ['package.json', 'package-lock.json', 'tsconfig.json', 'run.ts', 'src', 'workers', 'test', 'tools']) add(path)
process.stdout.write(hash.digest('hex'))
EOF
}

build() {
  sources=$(hash_sources)
  if [ -f dist/run.js ] && [ "$(cat "$BUILD_STAMP" 2>/dev/null)" = "$sources" ]; then return 0; fi
  # Compiled files of sources that are gone would still run as tests.
  rm -rf dist
  quietly 'npm run build' npm run build || exit 1
  printf '%s\n' "$sources" >"$BUILD_STAMP"
}

check_node
install_packages
build

next='node dist/run.js all'
[ "$caller" = "$checkout" ] || next="cd '$checkout' && $next"
say "ready; next: $next"
