# shellcheck shell=bash
# The native libraries under a checker: AddressSanitizer, or the JVM's -Xcheck:jni. Sourced by scripts/sanitize and
# scripts/faults, whose variable here it uses.
# shellcheck disable=SC2154

# checker_prepare asan|jni FOLDER: sets checker_options, of JVMs (words without spaces), and checker_environment,
# NAME=VALUE words that these JVMs need. What is found goes to files in FOLDER.
checker_prepare() {
  local library
  checker_folder=$2 checker_options='' checker_environment=''
  case $1 in
    jni)
      # To files: the standard output of some JVMs is a protocol.
      checker_options="-Xcheck:jni -XX:+UnlockDiagnosticVMOptions -XX:+LogVMOutput -XX:-DisplayVMOutput"
      checker_options="$checker_options -XX:LogFile=$2/jni.%p.log" ;;
    asan)
      # It checks functions such as memcpy, not what _FORTIFY_SOURCE puts in their place.
      CFLAGS='-fsanitize=address -fno-omit-frame-pointer -g -U_FORTIFY_SOURCE' STRIP='' \
        "$here/rsocket-core/src/main/native/build" "$2/asan"
      library=$(readlink -f "$(${CC:-cc} -print-file-name=libasan.so)")
      # SIGSEGV is the JVM's business, and it does not free what it has at the end.
      checker_environment="LD_PRELOAD=$library ASAN_OPTIONS=handle_segv=0:allow_user_segv_handler=1:use_sigaltstack=0"
      checker_environment="$checker_environment:detect_leaks=0:quarantine_size_mb=32:log_path=$2/asan.log"
      checker_options="-Dorg.jrsocket.native.library=$(echo "$2"/asan/META-INF/native/*)" ;;
  esac
}

# checker_found: prints what was found; fails if that is nothing. Of JNI what the JVM says of its own libraries is left
# out: below each complaint stands the native method.
checker_found() {
  local found=1 file
  for file in "$checker_folder"/asan.log.*; do
    [ ! -s "$file" ] || { cat "$file"; found=0; }
  done
  for file in "$checker_folder"/jni.*.log; do
    [ -s "$file" ] || continue
    awk '
      /FATAL ERROR in native method/ {
        print FILENAME ": " $0
        found = 1
        for (i = 0; i < 8 && (getline line) > 0; i++) print line
        next
      }
      /WARNING in native method|WARNING: JNI/ { complaint = $0; next }
      complaint != "" { if (/at org\.jrsocket\./) { print FILENAME ": " complaint "\n" $0; found = 1 } complaint = "" }
      END { exit !found }' "$file" && found=0
  done
  return $found
}
