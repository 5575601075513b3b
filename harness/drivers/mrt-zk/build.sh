#!/bin/bash
# Builds the driver of mrt-zk, and prints the command for mrtq accept --implementation.
#
#   build.sh MerrittZK.jar json.jar OUTPUT_FOLDER [VERSION]
#
# MerrittZK.jar is built by mvn package in CDLUC3/mrt-zk, json.jar is org.json. ZooKeeper's client comes from
# $ZOOKEEPER_HOME/lib if that is set, else from Debian's package libzookeeper-java.
set -euo pipefail

fail() {
	echo "build.sh: $1" >&2
	exit 2
}

usage='usage: build.sh MerrittZK.jar json.jar OUTPUT_FOLDER [VERSION]'
[[ $# == 3 || $# == 4 ]] || fail "$usage"
library="$1" json="$2" output="$3" version="${4:-$(basename "$1" .jar)}"
here="$(cd "$(dirname "$0")" && pwd)"

[[ -f "$library" ]] || fail "no $library; run mvn package in a clone of CDLUC3/mrt-zk, and give the jar below target/; $usage"
[[ -f "$json" ]] || fail "no $json; take org.json's jar, which Maven keeps below ~/.m2/repository/org/json/json; $usage"
command -v javac >/dev/null || fail 'no javac; install a JDK, such as Debian'\''s default-jdk-headless'
[[ "$version" =~ ^[A-Za-z0-9._+-]+$ ]] || fail "the version $version has other characters than letters, digits and . _ + -"

if [[ -n "${ZOOKEEPER_HOME:-}" ]]; then
	compgen -G "$ZOOKEEPER_HOME/lib/zookeeper-[0-9]*.jar" >/dev/null ||
		fail "no zookeeper-*.jar in $ZOOKEEPER_HOME/lib; set ZOOKEEPER_HOME to an unpacked Apache ZooKeeper"
	client="$(realpath "$ZOOKEEPER_HOME")/lib/*"
else
	# The same jars as harness/jvm.go has. The manifest of zookeeper.jar names the others.
	client=
	for jar in zookeeper zookeeper-jute slf4j-simple netty-codec netty-resolver netty-transport-native-unix-common; do
		[[ -f "/usr/share/java/$jar.jar" ]] ||
			fail "no /usr/share/java/$jar.jar; install Debian's libzookeeper-java, or set ZOOKEEPER_HOME to an unpacked Apache ZooKeeper"
		client+="${client:+:}/usr/share/java/$jar.jar"
	done
fi

mkdir -p "$output"
output="$(realpath "$output")"
classes="$output:$(realpath "$library"):$(realpath "$json"):$client"
javac -nowarn -d "$output" -cp "$classes" "$here/Driver.java"

# The driver shares the machine with the scenarios: a small collector, the fast compiler, and a quiet log.
printf '%s\n' "java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error -Dmrt-zk.version='$version' -cp '$classes' Driver"
