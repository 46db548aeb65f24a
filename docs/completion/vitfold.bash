# Made by scripts/make_docs from the tables of the program.
_vitfold()
{
    local word=${COMP_WORDS[COMP_CWORD]} words=''
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    if [ "$COMP_CWORD" = 1 ] || [ "$before" = help ]; then
        words='convert inspect explain passes run compare eval check bench emit-c diff bisect sensitivity help'
    else
    case ${COMP_WORDS[1]} in
    convert)
        words='--output --passes --recipe --save-recipe --skip --calibration --report --input --inputs --test-data-dir --random --effect-svg --check --strict --dim --emit-c --opset --ir-version --external-data --stop-after --print-after --threads --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        -o | --output) words='' ;;
        -p | --passes) words='' ;;
        --recipe) words='' ;;
        --save-recipe) words='' ;;
        --skip) words='' ;;
        --calibration) words='' ;;
        --report) words='' ;;
        -i | --input) words='' ;;
        --inputs) words='' ;;
        --test-data-dir) words='' ;;
        --random) words='' ;;
        --effect-svg) words='' ;;
        --dim) words='' ;;
        --emit-c) words='' ;;
        --opset) words='' ;;
        --ir-version) words='' ;;
        --external-data) words='auto always never' ;;
        --stop-after) words='' ;;
        --print-after) words='' ;;
        -t | --threads) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    inspect)
        words='--dim --signal --signal-svg --inputs --graph --output --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        --dim) words='' ;;
        --signal-svg) words='' ;;
        --inputs) words='' ;;
        --graph) words='none svg dot graphml' ;;
        -o | --output) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    explain)
        words='--pass --node --html --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        --pass) words='' ;;
        --node) words='' ;;
        --html) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    passes)
        words='--recipe-schema --operators --schedule --kind --steps --json --verbose --quiet --color'
        case $before in
        --schedule) words='' ;;
        --kind) words='linear cosine step' ;;
        --steps) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    run)
        words='--input --inputs --test-data-dir --random --dim --output-dir --output-format --outputs --save-all --reference --fuse --threads --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        -i | --input) words='' ;;
        --inputs) words='' ;;
        --test-data-dir) words='' ;;
        --random) words='' ;;
        --dim) words='' ;;
        -o | --output-dir) words='' ;;
        --output-format) words='auto npy npz pb' ;;
        --outputs) words='' ;;
        --fuse) words='on off' ;;
        -t | --threads) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    compare)
        words='--input --inputs --test-data-dir --random --dim --expect --rtol --atol --limit --exact --per-node --svg --fuse --threads --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        -i | --input) words='' ;;
        --inputs) words='' ;;
        --test-data-dir) words='' ;;
        --random) words='' ;;
        --dim) words='' ;;
        --expect) words='' ;;
        --rtol) words='' ;;
        --atol) words='' ;;
        --limit) words='' ;;
        --svg) words='' ;;
        --fuse) words='on off' ;;
        -t | --threads) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    eval)
        words='--data --batch --samples --size --resize --mean --std --output --fuse --threads --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        -d | --data) words='' ;;
        --batch) words='' ;;
        --samples) words='' ;;
        --size) words='' ;;
        --resize) words='' ;;
        --mean) words='' ;;
        --std) words='' ;;
        --output) words='' ;;
        --fuse) words='on off' ;;
        -t | --threads) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    check)
        words='--json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    bench)
        words='--repeats --warmup --per-node --trace --beside --fuse --threads --input --inputs --test-data-dir --random --dim --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        -n | --repeats) words='' ;;
        --warmup) words='' ;;
        --trace) words='' ;;
        --beside) words='nothing reference unfused' ;;
        --fuse) words='on off' ;;
        -t | --threads) words='' ;;
        -i | --input) words='' ;;
        --inputs) words='' ;;
        --test-data-dir) words='' ;;
        --random) words='' ;;
        --dim) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    emit-c)
        words='--output --with --weights --weights-dtype --single-file --fuse --input --inputs --test-data-dir --random --dim --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        -o | --output) words='' ;;
        --with) words='' ;;
        --weights) words='file c' ;;
        --weights-dtype) words='f32 f16 bf16' ;;
        --fuse) words='on off' ;;
        -i | --input) words='' ;;
        --inputs) words='' ;;
        --test-data-dir) words='' ;;
        --random) words='' ;;
        --dim) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    diff)
        words='--context --stat --html --full --input --inputs --test-data-dir --random --dim --threads --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        --context) words='' ;;
        --html) words='' ;;
        -i | --input) words='' ;;
        --inputs) words='' ;;
        --test-data-dir) words='' ;;
        --random) words='' ;;
        --dim) words='' ;;
        -t | --threads) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    bisect)
        words='--passes --recipe --skip --metric --threshold --data --batch --samples --size --resize --mean --std --input --inputs --test-data-dir --random --dim --calibration --threads --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        -p | --passes) words='' ;;
        --recipe) words='' ;;
        --skip) words='' ;;
        -m | --metric) words='' ;;
        --threshold) words='' ;;
        -d | --data) words='' ;;
        --batch) words='' ;;
        --samples) words='' ;;
        --size) words='' ;;
        --resize) words='' ;;
        --mean) words='' ;;
        --std) words='' ;;
        -i | --input) words='' ;;
        --inputs) words='' ;;
        --test-data-dir) words='' ;;
        --random) words='' ;;
        --dim) words='' ;;
        --calibration) words='' ;;
        -t | --threads) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    sensitivity)
        words='--pass --metric --budget --save-recipe --svg --data --batch --samples --size --resize --mean --std --input --inputs --test-data-dir --random --dim --calibration --threads --json --allow-linked-data --max-nesting --max-fields --max-memory --verbose --quiet --color'
        case $before in
        -p | --pass) words='' ;;
        -m | --metric) words='' ;;
        --budget) words='' ;;
        --save-recipe) words='' ;;
        --svg) words='' ;;
        -d | --data) words='' ;;
        --batch) words='' ;;
        --samples) words='' ;;
        --size) words='' ;;
        --resize) words='' ;;
        --mean) words='' ;;
        --std) words='' ;;
        -i | --input) words='' ;;
        --inputs) words='' ;;
        --test-data-dir) words='' ;;
        --random) words='' ;;
        --dim) words='' ;;
        --calibration) words='' ;;
        -t | --threads) words='' ;;
        --allow-linked-data) words='' ;;
        --max-nesting) words='' ;;
        --max-fields) words='' ;;
        --max-memory) words='' ;;
        --color) words='auto always never' ;;
        esac
        ;;
    esac
    fi
    # An operand is a file: options are offered once a word looks like one.
    case $words:$word in --*:-* | [!-]*) ;; *) words='' ;; esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _vitfold vitfold
