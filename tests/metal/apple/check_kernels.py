#!/usr/bin/env python3
"""Checks the kernels' text with clang, as C++14 and C++17 with address spaces and without what Metal lacks.

Usage: check_kernels.py CLANG kernel_source.metal [FAULT]     FAULT: of faults.metal, or every_word

Metal 3.1 is C++14 with restrictions, Metal 4 is C++17. clang checks syntax, types and address spaces against the
declarations of metal_stdlib beside this file; its AST shows what is C++ and not Metal; `reserved_words` lists the names
that Metal takes. FAULT is planted behind the text: the check fails unless what faults.metal expects is found, and
nothing outside of the fault. every_word plants every reserved word in turn.
"""
import bisect
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import metal_rules
import planted

HERE = pathlib.Path(__file__).parent
FAULTS = HERE / "faults.metal"
# A warning counts as an error: what clang doubts here, Metal's compiler may refuse.
OPTIONS = ("-x c++ -target aarch64-linux-gnu -nostdinc -fno-exceptions -fno-rtti -ferror-limit=0 "
           "-fno-caret-diagnostics -fno-color-diagnostics -Wall -Wextra -Wpedantic -Wvla -Wold-style-cast "
           "-Wno-undefined-inline -Wno-undefined-internal -Wno-unused-parameter -Wno-unused-function "
           "-Wno-unused-const-variable -Wno-unknown-warning-option -Wno-gnu-line-marker").split()
# Metal gives each struct copy constructors from all address spaces; clang has none but the one from its own.
COPIES = ("{0}() = default; {0}(thread const {0}&) = default; thread {0}& operator=(thread const {0}&) = default; "
          "{0}(device const {0}&); {0}(constant {0}&);")
# Table 5.8: what a kernel may be told of its thread as one number.
THREAD_ATTRIBUTES = {f"{what}_{where}" for what, where in (
    ("thread_position", "in_grid"), ("thread_position", "in_threadgroup"), ("thread_index", "in_threadgroup"),
    ("thread_index", "in_simdgroup"), ("thread_index", "in_quadgroup"), ("threadgroup_position", "in_grid"),
    ("simdgroup_index", "in_threadgroup"), ("quadgroup_index", "in_threadgroup"), ("threads", "per_grid"),
    ("threads", "per_threadgroup"), ("threads", "per_simdgroup"), ("threadgroups", "per_grid"),
    ("simdgroups", "per_threadgroup"), ("quadgroups", "per_threadgroup"))}
HEADERS = ("metal_stdlib", "metal_tensor", "MetalPerformancePrimitives/MetalPerformancePrimitives.h")
INT8_UNITS = "#define EGG_INT8_UNITS\n"  # as apple_device.mm puts before the text
MOST_ARGUMENT_BYTES = 4096  # of setBytes
LAST_INDEX = 30  # of buffers, and of threadgroup memory
MOST_THREADS = 1024  # of a threadgroup


def expand(word):
    """All words that one with {a,b} stands for."""
    braces = re.search(r"\{([^{}]*)\}", word)
    if not braces:
        return [word]
    ways = braces[1].split(",")
    return [full for way in ways for full in expand(word[:braces.start()] + way + word[braces.end():])]


def reserved():
    """The words and the names of the list."""
    lists, current = {}, set()
    for line in (HERE / "reserved_words").read_text().splitlines():
        if line.startswith("["):
            current = lists.setdefault(line.strip("[]"), set())
        elif not line.startswith("#"):
            current.update(full for word in line.split() for full in expand(word))
    return lists["words"], lists["names"]


class Text:
    """The preprocessed text, whose `# LINE "FILE"` say where each line is from."""

    def __init__(self, text):
        self.text = text
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def place(self, offset):
        """The "FILE:LINE" of an offset."""
        row = bisect.bisect_right(self.starts, offset) - 1
        lines = self.text.splitlines()
        for above in range(row, -1, -1):
            marker = re.match(r'# (\d+) "(.*)"', lines[above])
            if marker:
                return f"{marker[2]}:{int(marker[1]) + row - above - 1}"
        return f"line {row + 1}"

    def matching(self, opening):
        """The offset behind the bracket that closes the one at `opening`."""
        depth = 0
        for bracket in re.compile(r"[({\[\])}]").finditer(self.text, opening):
            depth += 1 if bracket[0] in "({[" else -1
            if depth == 0:
                return bracket.end()
        raise SystemExit(f"{self.place(opening)}: a bracket is not closed")


class Check:
    """One text's errors, "FILE:LINE: error: what is wrong"."""

    def __init__(self, clang, folder, standard="c++14"):
        self.clang = [clang, f"-std={standard}"]
        self.folder = pathlib.Path(folder)
        self.words, self.names = reserved()
        declared = set(re.findall(r"#define (\w+)", (HERE / "metal_stdlib").read_text()))
        self.tensors = ""
        if standard == "c++20":
            self.tensors = f'#include "{HERE}/metal_tensors"\n'
            declared.update(re.findall(r"struct (\w+)", (HERE / "metal_tensors").read_text()))
        self.poison = sorted(self.words - declared)
        self.errors = []

    def error(self, place, message):
        line = f"{place}: error: {message}"
        if line not in self.errors:
            self.errors.append(line)

    def run_clang(self, path, *options):
        done = subprocess.run([*self.clang, *OPTIONS, *options, str(path)], capture_output=True, text=True, check=False)
        messages = re.findall(r"^(.+?:\d+):(\d+): (error|warning|fatal error|note): (.*)$", done.stderr, re.MULTILINE)
        lines = path.read_text().splitlines()
        for place, column, kind, message in messages:
            if kind == "note":
                macro = re.match(r"expanded from macro '(\w+)'", message)
                if macro and macro[1] in self.words and self.errors and "reserved word" not in self.errors[-1]:
                    self.errors[-1] += f" (the reserved word '{macro[1]}')"
                continue
            if "poisoned" in message:
                at = self.line_at(lines, place)[int(column) - 1:]
                message = f"the reserved word '{re.match(r'[A-Za-z_0-9]*', at)[0]}' is used"
            self.error(place, message)
        if done.returncode != 0 and not self.errors:
            raise SystemExit(f"{self.clang[0]} failed:\n{done.stderr}")
        return done.stdout

    @staticmethod
    def line_at(lines, place):
        """The line of a preprocessed file that its markers say is at "FILE:LINE"."""
        file, line = place.rsplit(":", 1)
        at = None
        for text in lines:
            marker = re.match(r'# (\d+) "(.*)"', text)
            if marker:
                at = int(marker[1]) if marker[2] == file else None
                continue
            if at == int(line):
                return text
            at = at + 1 if at is not None else None
        return ""

    def macros(self, text, name):
        """No macro has a name of Metal's."""
        for i, line in enumerate(text.splitlines()):
            macro = re.match(r"\s*#\s*(?:define|undef)\s+(\w+)", line)
            if macro and macro[1] in self.words | self.names:
                self.error(f"{name}:{i + 1}", f"the reserved word '{macro[1]}' is a macro here")

    def preprocessed(self, parts):
        """The parts, (text, name), as one text without macros."""
        for text, name in parts:
            self.macros(text, name)
        path = self.folder / "text.cpp"
        path.write_text("".join(f'# 1 "{name}"\n{text}\n' for text, name in parts))
        for header in HEADERS:  # what they declare is read later
            (self.folder / header).parent.mkdir(exist_ok=True)
            (self.folder / header).write_text("")
        text = self.run_clang(path, "-E", "-D__METAL_VERSION__=310", f"-I{self.folder}")
        return re.sub(r'^(# \d+ "[^"]*").*$', r"\1", text, flags=re.MULTILINE)

    def kernel_parameter(self, kernel, place, parameter):
        """Checks a kernel's parameter. Returns what has to hold of it, as C++, and what it is bound to."""
        kind = (r"(?P<space>device|constant|threadgroup)\s+(?:const\s+)?(?P<type>[\w:]+)\s*[*&]\s*\w+\s*"
                r"\[\[\s*(?P<attribute>buffer|threadgroup)\s*\((?P<index>.*)\)\s*\]\]")
        buffer = re.fullmatch(kind, parameter)
        thread = re.fullmatch(r"(?:uint|uint32_t|ushort|uint16_t)\s+\w+\s*\[\[\s*(\w+)\s*\]\]", parameter)
        what = f"kernel {kernel}: the parameter '{parameter}'"
        if "[[" not in parameter:
            self.error(place, f"{what} has no attribute")
        elif thread and thread[1] in THREAD_ATTRIBUTES:
            return "", ""
        elif not buffer or (buffer["space"] == "threadgroup") != (buffer["attribute"] == "threadgroup"):
            self.error(place, f"{what} is not what Metal passes to a kernel")
        else:
            index = buffer["index"]
            tests = (f"static_assert({index} >= 0 && {index} <= {LAST_INDEX}, "
                     f'"{what} has an index above {LAST_INDEX}");\n')
            if buffer["space"] == "constant":
                tests += (f'static_assert(sizeof({buffer["type"]}) <= {MOST_ARGUMENT_BYTES}, '
                          f'"{what} has more than {MOST_ARGUMENT_BYTES} bytes");\n')
            return tests, f'{buffer["attribute"]} {index}'
        return "", ""

    def kernels(self, text):
        """Checks the kernels' parameters. Returns the text without their attributes, and what has to hold of them."""
        found = Text(text)
        tests = ""
        # To clang these two are nothing.
        for word in re.finditer(r"\b(thread|kernel)\b(?!\s*[A-Za-z_*&])", text):
            self.error(found.place(word.start()), f"the reserved word '{word[1]}' is used as a name")
        blank = []
        for word in re.finditer(r"\bkernel\b", text):
            head = re.compile(r"kernel\s+void\s+(\w+)\s*\(").match(text, word.start())
            if not head:
                self.error(found.place(word.start()), "a kernel is not `kernel void name(...)`")
                continue
            end = found.matching(head.end() - 1)
            place = found.place(word.start())
            indices = []
            parameters = re.sub(r"^# .*$", "", text[head.end():end - 1], flags=re.MULTILINE)
            for parameter in re.split(r",(?![^\[\]]*\]\])", parameters):
                test, index = self.kernel_parameter(head[1], place, " ".join(parameter.split()))
                tests += f'# 1 "{place}"\n{test}' if test else ""
                indices += [index] if index else []
            for kind in ("buffer", "threadgroup"):
                cases = " ".join(f"case {i.split(' ', 1)[1]}:" for i in indices if i.startswith(kind + " "))
                if cases:
                    tests += (f'# 1 "{place}"\ninline void {kind}_of_{head[1]}(int index) '
                              f"{{ switch (index) {{ {cases} break; }} }}\n")
            blank += [m.span() for m in re.compile(r"\[\[.*?\]\]", re.DOTALL).finditer(text, head.end(), end)]
        for most in re.finditer(r"\[\[\s*max_total_threads_per_threadgroup\((\w+)\)\s*\]\]", text):
            tests += (f'# 1 "{found.place(most.start())}"\nstatic_assert({most[1]} > 0 && {most[1]} <= {MOST_THREADS}, '
                      f'"a threadgroup has at most {MOST_THREADS} threads");\n')
            blank.append(most.span())
        for begin, end in blank:
            text = text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]
        return text, tests

    @staticmethod
    def with_copies(text):
        """Gives the structs of namespace eggroll::metal, layout.h's, what Metal gives them."""
        found = Text(text)
        insertions = []
        for space in re.finditer(r"namespace eggroll \{\s*namespace metal \{", text):
            end = found.matching(space.end() - 1)
            insertions += [(m.end(), COPIES.format(m[1]))
                           for m in re.compile(r"\bstruct (\w+) \{").finditer(text, space.end(), end)]
        for at, constructors in reversed(insertions):
            text = text[:at] + " " + constructors + text[at:]
        return text

    def check(self, parts, stop=True):
        """Checks the parts, (text, name), as one text. stop: at the first step that finds errors."""
        text, tests = self.kernels(self.preprocessed(parts))
        if self.errors and stop:
            return
        path = self.folder / "checked.cpp"
        poison = "".join(f"#pragma GCC poison {word}\n" for word in self.poison)
        path.write_text(f'#include "{HERE}/metal_stdlib"\n{self.tensors}struct egg_kernels_begin;\n{poison}'
                        f"{self.with_copies(text)}\n{tests}")
        ast = self.run_clang(path, "-fsyntax-only", "-Xclang", "-ast-dump=json")
        if not self.errors:
            metal_rules.Rules(Text(path.read_text()), self.names, self.error).check(json.loads(ast))


def check_words(check):
    """Plants every word as a variable and every name as a function, an ordinary one between each two: those have to be
    found, each for what it is, these not."""
    for kind, listed, form, error_of in (
            ("words", check.words, "inline int egg_{1}() {{ int {0} = 1; return {0}; }}\n", "the reserved word '{}'"),
            ("names", check.names, "inline int {0}(int, int, int, int, int) {{ return {1}; }}\n",
             "'{}' is declared here, and is a name of namespace metal")):
        lines = [name for word in sorted(listed) for name in (word, f"egg_{word}")]
        check.errors = []
        check.check([("".join(form.format(word, i) for i, word in enumerate(lines)), kind)], stop=False)
        at = [(lines[int(error.split(":")[1]) - 1], error) for error in check.errors]
        found = {line for line, error in at if line not in listed or error_of.format(line) in error}
        print(f"{len(found)} of {len(listed)} {kind}")
        if found != listed:
            raise SystemExit("found though not reserved, or not found: " + " ".join(sorted(found ^ listed)))


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    clang, source = sys.argv[1:3]
    fault = sys.argv[3] if len(sys.argv) == 4 else None
    parts = [(pathlib.Path(source).read_text(), "kernel_source.metal")]
    with tempfile.TemporaryDirectory() as folder:
        check = Check(clang, folder)
        if fault == "every_word":
            check_words(check)
        elif fault:
            expected, text = planted.fault(FAULTS, fault)
            if fault.startswith("int8_units_"):
                check = Check(clang, folder, "c++20")
                parts.insert(0, (INT8_UNITS, "apple_device.mm"))
            check.check([*parts, (text, FAULTS.name)])
            planted.expect(check.errors, FAULTS, expected)
        else:
            check.check(parts)
            # Metal 4 is C++17, whose templates take a product's descriptor, as those of C++20 do.
            later = Check(clang, folder, "c++17")
            later.check(parts)
            units = Check(clang, folder, "c++20")
            units.check([(INT8_UNITS, "apple_device.mm"), *parts])
            errors = check.errors or later.errors or units.errors
            if errors:
                raise SystemExit("\n".join(errors))


if __name__ == "__main__":
    main()
