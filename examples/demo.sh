#!/bin/sh
# Shows fewest on the small Maven project in examples/shop. Called by `./x demo`,
# which sets FEWEST to the program.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/shop" "$work/shop"
cd "$work/shop"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
# Some sed programs cannot edit in place.
edit() { sed "$1" "$2" >"$2.new" && mv "$2.new" "$2"; }

say "1. The first run records what each test class uses."
"$FEWEST" mvn -q test

say "2. Nothing has changed: nothing runs, no test JVM is started."
"$FEWEST" mvn -q test

say "3. An edit of one method: Money.percent() rounds another way."
edit 's/Math.round(cents \* percent \/ 100.0)/(cents * percent + 50) \/ 100/' \
    src/main/java/shop/Money.java
"$FEWEST" mvn --verbose -- -q test

say "4. Why only that one?"
"$FEWEST" covers Money#percent
"$FEWEST" why CartTest

say "5. An edit of a text file that one test reads, and that breaks it."
echo "Hello" >src/main/resources/greeting.txt
"$FEWEST" mvn --verbose -- -q test >maven.log 2>fewest.log || true
cat fewest.log
say "Maven said:"
grep -m 2 'GreetingTest' maven.log || cat maven.log
