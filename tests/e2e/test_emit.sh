#!/bin/bash
# Emitted programs: they compile without a warning, their outputs are those of `run --reference` to
# the bit, two emissions are the same bytes, and what would be lost is not replaced.
set -u
. "$(dirname "$0")/../support/emit_case.sh"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

# sample_words FOLDER: the words that give the sample and what is expected, by number
sample_words() {
    local path number
    for path in "$1"/sample/in_*.npy; do
        [ -e "$path" ] || continue
        number=${path##*_}
        echo "--in ${number%.npy}=$path"
    done
    for path in "$1"/sample/out_*.npy; do
        number=${path##*_}
        echo "--expect ${number%.npy}=$path"
    done
}

# build FOLDER COMPILER FLAGS
build() {
    make -s -C "$1" clean
    make -s -C "$1" CC="$2" CFLAGS="$3 $warnings" >log 2>&1 || fail "$1: $2 $3: $(head -5 log)"
}

# check FOLDER [options]: all outputs equal to the bit
check() {
    local to=$1 n
    shift
    n=$(ls "$to"/sample/out_* | wc -l)
    # Words are split on purpose: the paths are ours.
    # shellcheck disable=SC2046
    (cd "$to" && ./executor $(sample_words .) "$@") >out 2>&1 || fail "$to: $(cat out)"
    [ "$(grep -c 'equal to the bit' out)" = "$n" ] || fail "$to: $(cat out)"
}

# The same bytes twice; each compiler; optimised and with sanitizers.
emit a "$ln" --random 1 --dim batch=3
emit b "$ln" --random 1 --dim batch=3
diff -r a b >/dev/null || fail "two emissions differ"
build a gcc "-O3 -march=native"
check a --repeats 2
build a gcc "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
check a
if command -v clang >/dev/null; then
    build a clang -O1
    check a
fi
(cd a && sha256sum --quiet -c FILES) || fail "FILES is wrong"

# Called alone the model needs memory functions and mathematics only: no heap, no files.
nm -u a/build/model.o $(find a/build/runtime -name '*.o') | awk '$1 == "U" {print $2}' |
    grep -Ev '^(vfk_.*|mem(cpy|set|move|cmp)|strcmp|strlen|__assert_fail|_GLOBAL_OFFSET_TABLE_)$' |
    grep -Ev '^(a?(sin|cos|tan)h?|exp|exp2|expm1|log|log1p|log2|sqrt|pow|fmod|erf|floor|ceil|round|rint|nearbyint|trunc|fmax|fmin|fabs|tanh|cbrt|ldexp|frexp|lrint)f?$' >undefined
[ ! -s undefined ] || fail "the model needs $(tr '\n' ' ' <undefined)"

# Options.
emit single "$repbn" --random 2 --single-file
build single gcc -O1
check single
[ ! -e single/runtime ] || fail "--single-file left the kernels"
emit inside "$repbn" --random 2 --weights c
build inside gcc -O1
check inside
[ ! -e inside/model.weights ] || fail "--weights c left a file"
for dtype in f16 bf16; do
    emit narrow "$repbn" --random 2 --weights-dtype $dtype
    grep -q 'widened on loading; largest error' report || fail "$dtype: no error told"
    build narrow gcc -O1
    (cd narrow && ./executor $(sample_words .) --rtol 0.1 --atol 0.3) >out || fail "$dtype: $(cat out)"
    grep -q "before they were stored as $dtype, and ends" narrow/README.md || fail "README: $dtype"
    rm -r narrow
done

# Damaged weights are refused.
printf 'x' | dd of=b/model.weights bs=1 seek=100 conv=notrunc status=none
build b gcc -O1
(cd b && ./executor) >out 2>&1
[ $? = 6 ] && grep -q 'not the weights of this model' out || fail "damaged weights: $(cat out)"

# Two models in one program.
emit both "$ln" --with "$repbn" --random 1
build both gcc -O1
check both --which 0
(cd both && ./executor --compare $(sample_words . | grep -e --in)) >out 2>&1
[ $? = 1 ] && grep -q 'differ by more' out || fail "--compare: $(cat out)"
emit both "$ln" --with "$ln" --random 1
build both gcc -O1
(cd both && ./executor --compare $(sample_words . | grep -e --in)) >out 2>&1 || fail "same: $(cat out)"
grep -q 'equal to the bit' out || fail "--compare of one model with itself: $(cat out)"
(cd both && ./executor --compare --out 0=x.npy) >out 2>&1
[ $? = 2 ] && grep -q "of two '--compare'" out || fail "--compare with --out: $(cat out)"
(cd both && ./executor --list) >/dev/full 2>out
[ $? = 6 ] && grep -q "cannot write 'stdout'" out || fail "a full disk: $(cat out)"

# The result of passes, with the pass named in the comments.
"$vitfold" convert "$repbn" new.onnx -p softmax-to-relu --emit-c new >out 2>&1 || fail "convert: $(cat out)"
grep -q 'made by softmax-to-relu' new/model.c || fail "no pass in the comments of model.c"
grep -q "SHA-256 $(sha256sum <new.onnx | cut -d' ' -f1)" new/model.c || fail "SHA-256 of new.onnx"

# What is there: an earlier emission is replaced, anything else is not.
emit a "$repbn" --random 1
[ ! -e a/executor ] || fail "an old program is left"
echo keep >a/notes.txt
"$vitfold" emit-c "$ln" -o a 2>message && fail "notes.txt was replaced"
grep -q "holds 'notes.txt'" message || fail "$(cat message)"
rm a/notes.txt
echo '/* mine */' >>a/model.c
"$vitfold" emit-c "$ln" -o a 2>message && fail "a changed model.c was replaced"
grep -q "holds 'model.c'" message || fail "$(cat message)"
mkdir empty && emit empty "$ln"
echo file >file
"$vitfold" emit-c "$ln" -o file 2>message && fail "a file was replaced"
"$vitfold" emit-c "$ln" -o none/there 2>message
[ $? = 6 ] || fail "no parent: $(cat message)"
"$vitfold" emit-c "$ln" 2>message
[ $? = 2 ] || fail "no folder: $(cat message)"
# A file that may not grow is a failed write, and nothing is left.
(ulimit -f 20; "$vitfold" emit-c "$ln" -o large) 2>message
[ $? = 6 ] && [ ! -e large ] && grep -q 'File too large' message || fail "limit: $(cat message)"
# What could not be removed is not replaced. Nothing is forbidden to root.
chmod a-w a/runtime/kernels
if [ ! -w a/runtime/kernels ]; then
    "$vitfold" emit-c "$repbn" -o a --random 1 2>message
    [ $? = 6 ] && grep -q "cannot replace '.*runtime/kernels'" message || fail "$(cat message)"
fi
chmod u+w a/runtime/kernels
[ -z "$(find . -name '.vitfold*')" ] || fail "left $(find . -name '.vitfold*')"
exit $failed
