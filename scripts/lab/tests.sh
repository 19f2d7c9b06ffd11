# shellcheck shell=bash
# The tests that run on a device: which they are, and what they need in the guest. Sourced by scripts/test, whose
# variables it uses.
# shellcheck disable=SC2154  # here, console, jdk17, ... are scripts/test's

# The groups of tests that need a device, a line for each guest. A guest takes ten seconds to boot, and a JVM fifteen to
# load what the tests use; a guest that dies takes its groups along. The longest come first: what is left over at the
# end, when one lane has nothing to do any more, is short.
lab_guests() {
  printf '%s\n' interop interop-c 'core installed own-netty own-nio'
  # Once more only what differs: virtual threads, and the agent.
  printf '%s\n' 'installed-jdk25 interop-jdk25'
}

# lab_settings GROUP: sets the JDK of a group, its classpath, the folders of its classes and the tags of its tests.
lab_settings() {
  local tests=$here/core-tests/target nio=$here/rsocket-nio/target interop=$here/interop-tests/target
  local netty=$here/rsocket-netty/target
  local libraries=$here/rsocket-core/target/classes:$here/rsocket-testkit/target/classes:$(cat "$tests/test-classpath")
  lab_jdk=$jdk17 lab_tags='' lab_classpath=$tests/test-classes:$libraries lab_folder=$tests/test-classes
  case $1 in
    installed* | own-nio*)
      lab_folder=$nio/test-classes
      lab_classpath=$nio/test-classes:$nio/classes:$libraries ;;&
    installed*) lab_classpath=$tests/test-classes:$lab_classpath lab_folder=$tests/test-classes:$lab_folder ;;
    own-netty*)
      lab_classpath=$netty/test-classes:$netty/classes:$nio/test-classes:$nio/classes:$here/rsocket-core/target/classes
      lab_classpath=$lab_classpath:$here/rsocket-testkit/target/classes:$(cat "$netty/test-classpath")
      lab_classpath=$lab_classpath:$here/interop-tests/frameworks/grpc/target/classes
      lab_folder=$netty/test-classes ;;
    interop*)
      lab_classpath=$interop/test-classes:$interop/classes:$interop/programs/h2.jar:$libraries
      lab_folder=$interop/test-classes ;;
  esac
  case $1 in
    core*) lab_tags='lab & !installed' ;;
    installed-processor) lab_tags='lab & installed & processor' ;;
    installed*) lab_tags='lab & installed' ;;
    interop-c) lab_tags='lab & c' ;;
    interop) lab_tags='lab & !c' ;;
    interop-jdk25) lab_tags='lab & !c & !frameworks & !programs & !commands' ;;
    own-netty*) lab_tags='lab' ;;
    own-nio*) lab_tags='lab & !installed' ;;
    *) say "no group '$1'"; return 2 ;;
  esac
  case $1 in
    *-jdk25) lab_jdk=$jdk25 lab_tags="$lab_tags & !once & !many & (!transport | jdk21)" ;;
    *) lab_tags="$lab_tags & !jdk21" ;;
  esac
}

# Of the JDK: TLS, HTTP, NIO, RMI, management.
lab_packages='^(sun/(security|nio/ch|net|rmi)|com/sun/crypto/provider|com/sun/jmx|jdk/internal/net|'
lab_packages+='java/(net|nio|rmi)|javax/(net|management))/'

# What JUnit's JVMs have open: the packages are those that surefire opens too.
lab_opens=(--add-opens java.base/java.net=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED)

# jdk_version HOME: the first number of its version.
jdk_version() { sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"; }

# lab_archives JDK...: archives of the classes that the JVMs in the guest load, as they are in memory (the JVM's
# "class data sharing"). They are made here in seconds; to find and read that many classes is half of what a JVM in the
# guest does before its program begins. A JVM that finds its archive unfit, or none, starts as ever.
#
# rsocket-VERSION.jsa, beside the agent's jar, is for any program with the agent, rsocket-command-VERSION.jsa for
# java -jar rsocket.jar, see Site.archiveOption;
# junit-agent-VERSION.jsa and junit-VERSION.jsa, beside JUnit's, for JUnit with it and without.
lab_archives() {
  local home version jar=$here/rsocket-nio/target/rsocket.jar scratch lock agent
  agent=(-Xbootclasspath/a:"$jar" --add-modules java.instrument) # what -javaagent comes to
  scratch=$(mktemp -d)
  exec {lock}>"${console%/*}/archives.lock"
  flock "$lock" # another lane may be making them
  uname -m >"${console%/*}/archives.machine"
  for home in "$@"; do
    version=$(jdk_version "$home")
    ! lab_archive_fits "${console%/*}/junit-$version.jsa" || continue # the last one
    # All of the jar's classes; the JDK's for what the tests' programs have in common; and those that JUnit runs a test
    # with, here with the agent, which has no device.
    {
      "$home/bin/jimage" list "$home/lib/modules" | sed -n 's/^ *\(.*\)\.class$/\1/p' | grep -E "$lab_packages"
      unzip -Z1 "$jar" '*.class' | grep -v 'package-info\|^META-INF' | sed 's/\.class$//'
      "$home/bin/java" -XX:TieredStopAtLevel=1 -XX:DumpLoadedClassList="$scratch/list" -javaagent:"$jar" \
        -jar "$console" execute --disable-banner --details=testfeed \
        --class-path "$here/core-tests/target/test-classes:$here/rsocket-core/target/classes" \
        --select-class org.jrsocket.wire.ImmTest --reports-dir "$scratch" >"$scratch/log" 2>&1 ||
        tail -n 20 "$scratch/log" >&2
      cat "$scratch/list" || true
    } >"$scratch/classes"
    lab_archive "$home" "${jar%.jar}-$version.jsa" "${agent[@]}" -cp "$scratch/nothing.jar"
    lab_archive "$home" "${jar%.jar}-command-$version.jsa" -cp "$jar"
    lab_archive "$home" "${console%/*}/junit-agent-$version.jsa" "${agent[@]}" "${lab_opens[@]}" -cp "$console"
    lab_archive "$home" "${console%/*}/junit-$version.jsa" "${lab_opens[@]}" -cp "$console"
  done
  exec {lock}>&-
  rm -rf "$scratch"
}

# lab_archive JDK FILE OPTION...: one of them, of the classes in $scratch/classes.
lab_archive() {
  local home=$1 file=$2
  shift 2
  "$home/bin/java" -XX:TieredStopAtLevel=1 -Xshare:dump -XX:SharedClassListFile="$scratch/classes" \
    -XX:SharedArchiveFile="$file" "$@" >"$scratch/log" 2>&1 ||
    { rm -f "$file"; say "lab: no ${file##*/}: $(tail -n 3 "$scratch/log")"; }
}

# lab_archive_fits FILE: an archive of other jars, or of another processor's JDK, would have the JVM share no classes at
# all, the JDK's neither.
lab_archive_fits() {
  [ "$1" -nt "$console" ] && [ "$1" -nt "$here/rsocket-nio/target/rsocket.jar" ] &&
    [ "$(uname -m)" = "$(cat "${console%/*}/archives.machine")" ]
}

# lab_java_options GROUP: sets java_options, for JUnit.
lab_java_options() {
  local archive
  java_options=("@$here/scripts/lab/jvm-options" "${lab_opens[@]}")
  case $1 in
    installed*) archive=junit-agent ;;
    *) archive=junit ;;
  esac
  archive=${console%/*}/$archive-$(jdk_version "$lab_jdk").jsa
  ! lab_archive_fits "$archive" || java_options+=("-XX:SharedArchiveFile=$archive")
  # Where JUnit's JVM does the work itself it lives for minutes: it compiles sooner than those that only start. The
  # tests under the agent took 184 s with 10, 148 s with 2 and 161 s with 1; programs of other people 81 s with 10 and
  # 90 s with 2.
  case $1 in core* | installed* | own-*) java_options+=(-XX:CompileThresholdScaling=2) ;; esac
}

# lab_select GROUP: prints what junit is to run, an argument a line. The classes are named: the guest, to which the
# host's files are far, would take long to find them. "long" is what a person asks for: left out, not skipped.
lab_select() {
  local java_options=()
  lab_settings "$1"
  printf '%s\n' --include-tag "$lab_tags & !long"
  lab_java_options without-the-agent
  "$lab_jdk/bin/java" "${java_options[@]}" -jar "$console" discover --disable-banner --disable-ansi-colors \
    --details=verbose --class-path "$lab_classpath" --include-engine junit-jupiter \
    --scan-classpath "$lab_folder" --include-tag "$lab_tags & !long" 2>/dev/null |
    sed -n 's/.*uniqueId: .*\[class:\([^]]*\)\].*/\1/p' | sort -u | sed 's/^/--select-class\n/'
}

# in_guest SCRATCH GROUP...: in the guest, one group after the other. Fails only where the reports do not tell.
in_guest() {
  local scratch=$1 group status=0
  shift
  echo "lab: the guest is ready"
  # Of all JVMs here: see scripts/sanitize. The guest's copy of the file is its own.
  # shellcheck disable=SC2086  # words
  [ -z "${LAB_JVM_OPTIONS:-}" ] || printf '%s\n' $LAB_JVM_OPTIONS >>"$here/scripts/lab/jvm-options"
  for group in "$@"; do
    # A process of its own, which leaves nothing behind and ends at the first error.
    lab_tests "$group" "$scratch" &
    wait $! || status=$?
  done
  return "$status"
}

# lab_tests GROUP SCRATCH: in the guest, the tests of SCRATCH/GROUP.select; the reports go to SCRATCH/reports/GROUP.
# Names each test when it starts, so that one that hangs can be told. Fails only where the reports do not tell.
lab_tests() {
  local name=$1 options=() java_options=() selected status=0
  lab_settings "$name"
  lab_java_options "$name"
  # The kernel's code is changed while nothing else runs: see lab-bytes.
  case $name in interop* | own-netty*) lab-bytes on && lab-bytes off ;; esac
  mapfile -t selected <"$2/$name.select"
  mkdir -p "$2/reports"
  cd "$2/reports" # a JVM that crashes leaves its report where it was started
  case $name in
    # A test that has to see RDMA does not fail for a slow guest: the head start of 100 ms would have it use TCP.
    own-*)
      options=(-Dorg.jrsocket.connect.timeout=60s -Dorg.jrsocket.test.threads=1)
      [[ $name != own-netty* ]] || options+=(-Dorg.jrsocket.test.programs=40) ;;
    core*) options=("-Dorg.jrsocket.test.address=$ROCE_LAB_ADDR" "-Dorg.jrsocket.test.address6=$ROCE_LAB_ADDR6") ;;
    installed*)
      # Tests that take the sockets they get, in a JVM with the agent: each connection has to be RDMA's. One test must
      # not spoil the next by what the agent remembers of it, nor a slow guest by the time that RDMA gets.
      options=(
        "-javaagent:$here/rsocket-nio/target/rsocket.jar=memory.unanswered=0,memory.rejected=0,connect.timeout=20s"
        -Dorg.jrsocket.test.rdma=true
        "-Dorg.jrsocket.test.address=$ROCE_LAB_ADDR" "-Dorg.jrsocket.test.address6=$ROCE_LAB_ADDR6") ;;
  esac
  # shellcheck disable=SC2086  # words
  env ${LAB_JVM_ENVIRONMENT:-} "$lab_jdk/bin/java" "${java_options[@]}" "${options[@]}" \
    -jar "$console" execute --disable-banner --disable-ansi-colors --details=testfeed \
    --class-path "$lab_classpath" --include-engine junit-jupiter "${selected[@]}" --reports-dir "$name" \
    --fail-if-no-tests --config junit.jupiter.execution.timeout.default=10m \
    --config junit.jupiter.execution.timeout.thread.mode.default=SEPARATE_THREAD |
    grep -v --line-buffered ':: SUCCESSFUL$' || status=$?
  # 1: some tests failed, which the report tells too. More is worse.
  if [ "$status" -gt 1 ] || [ -z "$(find "$name" -name 'TEST-*.xml' -print -quit)" ]; then
    say "lab: $name: junit ended with $status"
    return 1
  fi
}

# lab_one JDK CLASS[$NESTED[,NESTED]...][#METHOD]: that alone, in a guest of its own. Says what took how long.
lab_one() {
  local jdk=$1 class=${2%%#*} nested='' method='' source module group status=0 scratch stage=boot since=$SECONDS
  local build line needs='' where=.*
  local -A took=([boot]=- [warm-up]=- [tests]=-)
  [[ $2 != *#* ]] || method=${2#*#}
  [[ $class != *\$* ]] || { nested=${class#*\$} class=${class%%\$*} where=".*\\\$(${nested//,/|})"; }
  source=$(grep -rlE "^(public |final )*class ${class##*.}\b" \
    "$here"/{core-tests,rsocket-nio,rsocket-netty,interop-tests}/src/test/java || true)
  if [ "$(grep -c . <<<"$source")" != 1 ]; then
    note lab failed \
      "no class '$class', or not one alone, in core-tests, rsocket-nio, rsocket-netty and interop-tests: $source"
    return
  fi
  module=${source#"$here/"} module=${module%%/*}
  class=$(sed -n 's/^package \(.*\);/\1/p' "$source").${class##*.}
  group=$module
  # The annotations above the class.
  if awk -v class="class ${class##*.} " '
      /^$/ { above = "" }
      { above = above $0 " " }
      index($0, class) { print above; exit }' "$source" |
    grep -q '@Tag("installed")'; then
    group=$module-installed
  fi
  # What the class needs; everything where there has been no build.
  [ -e "$console" ] || needs=all
  case ${needs:-$group} in
    core-tests) built test-compile -pl core-tests -am ;;
    core-tests-installed | rsocket-nio*) built package -pl core-tests,rsocket-nio -am ;;
    rsocket-netty*) built package -pl core-tests,rsocket-netty -am ;;
    *) built package ;;
  esac
  case $group in
    core-tests) group=core ;;
    rsocket-nio) group=own-nio ;;
    rsocket-netty) group=own-netty ;;
    *-installed) group=installed ;;
    *) group=interop ;;
  esac
  [ "$jdk" = 17 ] || group=$group-jdk$jdk
  build=$((SECONDS - since)) since=$SECONDS
  mkdir -p "$results/lab"
  scratch=$(mktemp -d)
  say "lab: $class${nested:+\$$nested}${method:+#$method} on JDK $jdk, $lab_arch"
  {
    printf '%s\n' --select-class "$class"
    # "long" is what a person asks for.
    if [ -n "$nested$method" ]; then
      [ -n "$method" ] || method='*'
      printf '%s\n' --include-methodname "$where#${method//\*/.*}"
    else
      printf '%s\n' --exclude-tag long
    fi
  } >"$scratch/$group.select"
  while IFS= read -r line; do
    case $stage:$line in
      boot:'lab: the guest is ready') took[boot]=$((SECONDS - since)) since=$SECONDS stage=warm-up; continue ;;
      warm-up:*' :: STARTED') took[warm-up]=$((SECONDS - since)) since=$SECONDS stage=tests ;;
      tests:'Test run finished after '*) took[tests]=$((SECONDS - since)) stage=end ;;
    esac
    printf '%s\n' "$line"
  done < <(with_stderr "$results/lab/$group.stderr" \
    "$here/scripts/roce-lab" run --arch "$lab_arch" --timeout "$(at_most $lab_limit)" --scratch "$scratch" -- \
    "$here/scripts/test" --in-guest "$(guest_jdk "$jdk17")" "$jdk25" "$scratch" "$group" || echo $? >"$scratch/status")
  [ ! -e "$scratch/status" ] || status=$(cat "$scratch/status")
  [ ! -d "$scratch/reports" ] || cp -r "$scratch/reports/." "$results/lab/"
  rm -rf "$scratch"
  say "waited for the build $build s, the boot of the guest ${took[boot]} s," \
    "the warm-up (JVM, agent, what comes before the first test) ${took[warm-up]} s, the tests ${took[tests]} s"
  case $status in
    0) ;;
    77) lab_missing lab "$(sed -n 's/^SKIPPED: //p' "$results/lab/$group.stderr")" ;;
    *) note lab failed "ended with $status; see above, and \"Reading a failing lab run\" in CONTRIBUTING.md" ;;
  esac
}
