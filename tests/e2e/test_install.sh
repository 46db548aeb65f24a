#!/bin/bash
# An installed vitfold is found by pkg-config and by CMake, wherever its tree was put.
set -eu
build=$(dirname "${VITFOLD:-build/vitfold}")
[ -f "$build/cmake_install.cmake" ] || { echo "skipped: no build folder $build"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

DESTDIR=$folder/stage cmake --install "$build" --prefix /opt/vitfold >/dev/null
mv "$folder/stage/opt/vitfold" "$folder/moved"
[ -z "$(find "$folder/stage" -type f)" ] || { echo "files outside of the prefix"; exit 1; }
"$folder/moved/bin/vitfold" --version | grep -q '^vitfold '
"$folder/moved/bin/vitfold" passes --recipe-schema | cmp - "$folder/moved/share/vitfold/recipe.rng"

share=$folder/moved/share
for file in man/man1/vitfold.1 man/man1/vitfold-bench.1 bash-completion/completions/vitfold \
    zsh/site-functions/_vitfold fish/vendor_completions.d/vitfold.fish; do
    [ -s "$share/$file" ] || { echo "share/$file is not installed"; exit 1; }
done

cat >"$folder/use.c" <<'C'
#include <stdio.h>
#include <vitfold.h>

int main(int n_word, char **word)
{
    VitfoldModel *model;
    VitfoldError *error = vitfold_error_new();
    int status = vitfold_model_load(n_word > 1 ? word[1] : "", NULL, &model, error);
    if (status != VITFOLD_OK) {
        printf("%s\n", vitfold_error_text(error));
        return status;
    }
    printf("%zu inputs\n", vitfold_model_n_input(model));
    vitfold_model_free(model);
    vitfold_error_free(error);
    return 0;
}
C
model=${VITFOLD_SOURCE:-.}/testdata/mnist/mnist_softmax_ln_op17.onnx
sanitizers=${VITFOLD_SANITIZE:+-fsanitize=address,undefined}

# With the compiler alone.
library=$(dirname "$(find "$folder/moved" -name vitfold.pc)")
export PKG_CONFIG_PATH=$library
# shellcheck disable=SC2046
cc $sanitizers -std=c11 -Wall -Wextra -Wpedantic -Werror "$folder/use.c" -o "$folder/use" \
    $(pkg-config --cflags --libs vitfold)
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(dirname "$library")
[ "$("$folder/use" "$model")" = "1 inputs" ]
status=0
"$folder/use" "$folder/none" >"$folder/message" || status=$?
[ "$status" = 6 ] && grep -q "cannot open" "$folder/message"

# The public headers are C++ too.
if command -v c++ >/dev/null; then
    # shellcheck disable=SC2046
    c++ -fsyntax-only -x c++ -Wall -Wextra -Werror "$folder/use.c" $(pkg-config --cflags vitfold)
fi

# With CMake, both libraries.
for kind in shared static; do
    mkdir "$folder/$kind"
    cat >"$folder/$kind/CMakeLists.txt" <<CM
cmake_minimum_required(VERSION 3.22)
project(use C)
find_package(vitfold REQUIRED)
add_executable(use ../use.c)
target_compile_options(use PRIVATE $sanitizers)
target_link_libraries(use PRIVATE $sanitizers vitfold::vitfold_$kind)
CM
    cmake -S "$folder/$kind" -B "$folder/$kind/b" -DCMAKE_PREFIX_PATH="$folder/moved" >/dev/null
    cmake --build "$folder/$kind/b" >/dev/null
    [ "$("$folder/$kind/b/use" "$model")" = "1 inputs" ]
done
