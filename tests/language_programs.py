"""The same four small programs in every language: one that is right, and three that are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sandbox.jobs import Job, Limits, Run
from sandbox.languages import TOOLCHAINS

if TYPE_CHECKING:
    from sandbox.jobs import JobResult


class Programs(NamedTuple):
    """One language's."""

    adds: str
    """Prints the sum of the two numbers on standard input."""
    is_broken: str
    """Is no program of the language."""
    fails: str
    """Ends with code 3."""
    spins: str
    """Never ends."""


_GO: Final = "package main\nimport ({imports})\nfunc main() {{ {body} }}\n"
_JAVA: Final = "import java.util.*;\nclass Main {{ public static void main(String[] a) {{ {} }} }}"
PROGRAMS: Final = {
    "python": Programs(
        "a, b = map(int, input().split())\nprint(a + b)",
        "print(",
        "raise SystemExit(3)",
        "while True: pass",
    ),
    "javascript": Programs(
        "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);"
        " console.log(a + b)",
        "console.log(",
        "process.exit(3)",
        "for (;;) {}",
    ),
    "typescript": Programs(
        "import { readFileSync } from 'fs'\ninterface Pair { a: number; b: number }\n"
        "const [a, b]: number[] = readFileSync(0, 'utf8').split(' ').map(Number)\n"
        "const pair: Pair = { a, b }\nconsole.log(pair.a + pair.b)",
        "const a: number = ;",
        "process.exit(3 as number)",
        "for (;;) {}",
    ),
    "c": Programs(
        '#include <stdio.h>\nint main(void) { int a, b; scanf("%d %d", &a, &b);'
        ' return printf("%d\\n", a + b) < 0; }',
        "int main(void) { return x; }",
        "int main(void) { return 3; }",
        "int main(void) { for (volatile int i = 0;; i++); }",
    ),
    "cpp": Programs(
        "#include <bits/stdc++.h>\n"
        "int main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; }",
        "int main() { return x; }",
        "#include <cstdlib>\nint main() { std::exit(3); }",
        "int main() { for (volatile int i = 0;; i = i + 1); }",
    ),
    "java": Programs(
        _JAVA.format(
            "Scanner in = new Scanner(System.in); System.out.println(in.nextInt() + in.nextInt());"
        ),
        _JAVA.format("return x;"),
        _JAVA.format("System.exit(3);"),
        _JAVA.format("while (true) {}"),
    ),
    "go": Programs(
        _GO.format(imports='"fmt"', body="var a, b int; fmt.Scan(&a, &b); fmt.Println(a + b)"),
        _GO.format(imports="", body="return x"),
        _GO.format(imports='"os"', body="os.Exit(3)"),
        _GO.format(imports="", body="for {}"),
    ),
    "rust": Programs(
        "use std::io;\nfn main() { let mut line = String::new();"
        " io::stdin().read_line(&mut line).unwrap();"
        " let sum: i32 = line.split_whitespace().map(|w| w.parse::<i32>().unwrap()).sum();"
        ' println!("{}", sum); }',
        "fn main() { x }",
        "fn main() { std::process::exit(3) }",
        "fn main() { loop { std::hint::spin_loop() } }",
    ),
    "bash": Programs(
        "read -r a b; echo $((a + b))",
        "if then",
        "exit 3",
        "while :; do :; done",
    ),
}
LIMITS: Final = Limits(cpu_seconds=5, memory_mb=512, processes=64)
"""Runtimes of some languages begin a thread a core, and more."""


def job(language: str, source: str, *runs: Run, cpu_seconds: float = 5) -> Job:
    """Make a job of a program."""
    limits = LIMITS.model_copy(update={"cpu_seconds": cpu_seconds})
    told = {"language": language, "source": source.encode(), "runs": runs or (Run(),)}
    return Job.model_validate({**told, "limits": limits})


def is_refused(language: str, result: JobResult) -> bool:
    """Whether a program that is none was refused by the compiler, or else by the interpreter."""
    judged = result.compiled if TOOLCHAINS[language].compile else result.runs[0]
    return judged is not None and bool(judged.exit_code) and bool(judged.stdout + judged.stderr)
