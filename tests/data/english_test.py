#!/usr/bin/env python3
"""english_test.py SOURCE: tools/english on small packages made here. Nothing is fetched from a network."""
import gzip
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

SOURCE = Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools"))
from english_prose import paragraphs  # noqa: E402

PARTS = ["train", "valid", "test"]
LIMITS = {32: 0.05, 64: 0.01, 128: 0.001}
COMMON = "the of and to in is that it for as with this from by on at which be are was".split()
OTHERS = ["".join(random.Random(number).choices("abcdefghiklmnoprstuvw", k=random.Random(number).randint(4, 8)))
          for number in range(400)]


def sentence(rng):
    words = [rng.choice(COMMON if rng.random() < 0.55 else OTHERS) for _ in range(rng.randint(9, 20))]
    return " ".join(words).capitalize() + "."


def prose(seed, count):
    """Paragraphs of three sentences, all different."""
    rng = random.Random(seed)
    return [" ".join(sentence(rng) for _ in range(3)) for _ in range(count)]


def html(lines):
    return "<html><head><title>T</title></head><body>" + "".join(f"<p>{line}</p>\n" for line in lines) + "</body></html>"


class EnglishTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.debs = self.folder / "debs"
        self.debs.mkdir()
        self.list = self.folder / "list"
        self.list.write_text("# a list\n")

    def package(self, name, readers, files, version="1.0-1"):
        root = self.folder / "root" / name
        for path, text in {**files, "DEBIAN/control": f"Package: {name}\nVersion: {version}\nArchitecture: all\n"
                                                      "Maintainer: Nobody <nobody@example.org>\nDescription: a test\n"}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        deb = self.debs / f"{name}_{version}_all.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "--build", root, deb], check=True, capture_output=True)
        sha256 = hashlib.sha256(deb.read_bytes()).hexdigest()
        self.list.write_text(f"{self.list.read_text()}{name} {version} {sha256}\n" + "".join(f"  {reader}\n" for reader in readers))
        return deb

    def run_tool(self, out="out", debs=True, **environment):
        where = ["--debs", self.debs] if debs else []
        return subprocess.run([sys.executable, SOURCE / "tools" / "english", "--out", self.folder / out, "--packages", self.list, *where],
                              capture_output=True, text=True, env={**os.environ, **environment})

    def made(self, out="out", **more):
        result = self.run_tool(out, **more)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return {path.name: path.read_bytes() for path in sorted((self.folder / out).iterdir())}

    def refused(self, pattern, **more):
        before = sorted(self.folder.iterdir())
        result = self.run_tool(**more)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stderr, f"^english: [^\n]*{pattern}[^\n]*\n$")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def three_packages(self):
        self.package("pages", ["markup *.html !*/fr/*"], {f"usr/share/doc/pages/{number}.html": html(prose(number, 10)) for number in range(60)}
                     | {"usr/share/doc/pages/fr/1.html": html(prose(999, 5)), "usr/share/doc/pages/copyright": "\n\n".join(prose(998, 5))})
        # Text that another package has too, in other lines, spaces and case.
        self.package("texts", ["text *.txt"], {"usr/share/texts/own.txt": "\n\n".join(prose(100, 300)),
                                               "usr/share/texts/again.txt": "\n\n".join(line.upper().capitalize().replace(" ", "\n", 3)
                                                                                         for line in prose(7, 10))})
        self.package("words", ["dictionary *.dict"], {"usr/share/words.dict": "".join(
            f"word{number}\n   1. {first}\n   2. {second}\n" for number, (first, second) in enumerate(zip(prose(200, 150), prose(201, 150))))})

    def test_the_text_is_split_spread_and_without_repeats(self):
        self.three_packages()
        # Documents of which a part stands in many others may not be held out.
        phrase = sentence(random.Random(5))[:-1].lower()
        self.package("alike", ["text *.txt"], {f"usr/{number}.txt": "\n\n".join(f"{line} Moreover {phrase} {line.lower()}"
                                               if number % 2 else line for line in prose(300 + number, 20)) for number in range(40)})
        files = self.made()
        self.assertEqual(sorted(files), ["english-test.bin", "english-train.bin", "english-valid.bin", "english.txt"])
        self.assertEqual(len(list(self.folder.glob(".*"))), 0)
        documents = {part: files[f"english-{part}.bin"].decode().split("\0") for part in PARTS}
        every = [document for part in PARTS for document in documents[part][1:]]
        self.assertEqual([documents[part][0] for part in PARTS], [""] * 3)
        self.assertEqual(len(every), len(set(every)))
        lines = [re.sub(r"\s+", " ", line).lower() for document in every for line in document.splitlines()]
        self.assertEqual(len(lines), len(set(lines)))
        known = set(lines)
        self.assertTrue(all(line.lower() in known for seed in range(60) for line in prose(seed, 10)))
        self.assertTrue(all(line.lower() in known for line in prose(100, 299)))
        self.assertFalse(any(line.lower() in known for seed in (998, 999) for line in prose(seed, 5)))
        listing = files["english.txt"].decode()
        for name in ("pages", "texts", "words", "alike"):
            sizes = [int(size) for size in re.search(rf"^{name} 1\.0-1: (.*)$", listing, re.MULTILINE)[1].split(", ")]
            self.assertTrue(all(sizes), (name, sizes))
            self.assertLess(max(sizes[1:]), sizes[0] / 6, (name, sizes))
        for name in sorted(files)[:3]:
            self.assertIn(f"{hashlib.sha256(files[name]).hexdigest()}  {name}  {len(files[name])}\n", listing)
        # The shares, counted in another way: over documents with the byte 0 before each.
        train = files["english-train.bin"]
        for part in PARTS[1:]:
            shares = []
            for width, limit in LIMITS.items():
                windows = [window for document in documents[part][1:] for text in [b"\0" + document.encode()]
                           for window in (text[start:start + width] for start in range(len(text) - width + 1))]
                shares.append(sum(window in train for window in windows) / len(windows))
                self.assertLessEqual(shares[-1], limit)
            self.assertIn(f"english-{part}.bin: " + ", ".join(f"{share:.4%}" for share in shares) + "\n", listing)

    def test_documents_are_shuffled_by_their_hash(self):
        self.three_packages()
        for name, data in self.made().items():
            hashes = [hashlib.sha256(b"\0" + document).digest() for document in data.split(b"\0")[1:]]
            self.assertEqual(hashes, sorted(hashes), name)

    def test_the_same_packages_make_the_same_files(self):
        self.three_packages()
        first = self.made("first", PYTHONHASHSEED="1", LC_ALL="C", TZ="UTC")
        second = self.made("second", PYTHONHASHSEED="2", LC_ALL="C.UTF-8", TZ="Asia/Tokyo", PYTHONUTF8="0")
        self.assertEqual(first, second)

    def test_packages_are_fetched(self):
        self.three_packages()
        # Programs that stand for apt's: they offer and copy what this test has made.
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "apt-cache").write_text('#!/bin/sh\nshift\nfor name; do echo "$name | 1.0-1 | nowhere"; done\n')
        (programs / "apt-get").write_text(f'#!/bin/sh\nshift 2\nfor name; do cp "{self.debs}/${{name%=*}}"_*.deb . || exit 1; done\n')
        for program in programs.iterdir():
            program.chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        self.assertEqual(self.made("fetched", debs=False, PATH=path), self.made("given"))
        (self.debs / "words_1.0-1_all.deb").unlink()
        self.refused("apt-get download fails .*mend the connection", debs=False, PATH=path)
        (programs / "apt-cache").write_text('#!/bin/sh\nshift\nfor name; do echo "$name | 1.0-2 | nowhere"; done\n')
        self.refused(r"apt offers 1\.0-2 of pages, expected 1\.0-1; run apt-get update", debs=False, PATH=path)

    def test_other_packages_are_refused(self):
        deb = self.package("pages", ["markup *.html"], {"usr/1.html": html(prose(1, 9))})
        text = self.list.read_text()
        self.list.write_text(text.replace(" 1.0-1 ", " 1.0-2 "))
        self.refused(r"has the version 1\.0-1, expected 1\.0-2; remove the file and run again")
        self.list.write_text(re.sub("[0-9a-f]{64}", "0" * 64, text))
        self.refused(r"has the sha256 [0-9a-f]{64}, expected 0{64}; remove the file and run again")
        self.list.write_text(text)
        deb.write_bytes(deb.read_bytes()[:100])
        self.refused("is no package pages, expected it whole; remove the file and run again")

    def test_a_damaged_file_in_a_package_is_refused(self):
        self.package("texts", ["text *.gz"], {"usr/1.gz": gzip.compress("\n\n".join(prose(1, 9)).encode())[:200]})
        self.refused("usr/1.gz of .* cannot be unpacked .*, expected it whole")

    def test_bad_requests_are_refused(self):
        self.package("pages", ["markup *.nothing"], {"usr/1.html": html(prose(1, 9))})
        self.refused("pages has no prose in the files that its patterns name")
        for line in ["pages 1.0", "  unknown *.html", "  markup", "pages 1.0 abc"]:
            self.list.write_text(f"# list\n{line}\n")
            self.refused("line 2 of .*, expected a package, its version and its sha256")
        self.list.write_text("# list\n")
        self.refused("names no package")
        self.list.unlink()
        self.refused("cannot read .*list: No such file")
        (self.folder / "out").mkdir()
        (self.folder / "out" / "file").write_text("")
        self.refused("out exists, expected a new or an empty folder")
        self.refused("nowhere is no folder, expected one for out; make it", out="nowhere/out")

    def test_a_text_that_repeats_itself_is_refused(self):
        pool = [sentence(random.Random(number))[:45].lower() for number in range(12)]
        rng = random.Random(3)
        self.package("alike", ["text *.txt"], {f"usr/{number}.txt": "\n\n".join(
            " ".join(["The", *rng.sample(pool, 5), "as", *rng.sample(OTHERS, 12)]) + "." for _ in range(4)) for number in range(60)})
        self.refused("has no documents that training does not repeat")

    def test_the_list_has_packages_that_do_not_change(self):
        lines = (SOURCE / "tools" / "english.packages").read_text().splitlines()
        packages = [line.split() for line in lines if line[0] not in " #"]
        self.assertGreater(len(packages), 20)
        self.assertEqual(len({name for name, _, _ in packages}), len(packages))
        for name, version, _ in packages:
            self.assertNotRegex(version, r"deb\d+u", name)  # the mark of a package that was changed within a release


FIRST = "The first sentence of this text is for the reader."
SECOND = "It is followed by a second one that is in the same place."


class ProseTest(unittest.TestCase):
    def test_markup_of_pages(self):
        page = f"""<html><head><title>The title of the page is not in the text.</title><style>p {{}}</style></head><body>
            <nav><p>This is the menu of all the pages that are in here.</p></nav><!-- <p>{SECOND}</p> -->
            <table><tr><td><a href="x">Next</a></td><td>Up</td></tr></table><h1>The Heading</h1>
            <p>The <i>first</i> sentence of\n   this <code>text</code> is for&nbsp;the reader.</p>
            <pre>The code is not in the text because it is code.</pre>
            <ul><li>{SECOND}</li><li>menu</li></ul><p>if (x &lt; 3) {{ the_code(of, this); }} is not prose.</p>
            <p>Ceci est une phrase en fran&ccedil;ais que personne ne doit garder.</p>
            <p>Copyright (c) 1999 by the author of the page and by all of the others.</p></body></html>"""
        self.assertEqual(paragraphs("markup", page.encode()), [FIRST, SECOND])
        self.assertEqual(paragraphs("markup", page.replace("français", "").encode("latin-1")), [FIRST, SECOND])

    def test_markup_of_books(self):
        book = f"""<?xml version="1.0"?><!DOCTYPE book [<!ENTITY a "b">]><book><bookinfo><para>{SECOND} Or so.</para></bookinfo>
            <para>The first <emphasis>sentence</emphasis> of this text is for the reader.</para>
            <programlisting>The listing is not in the text of the book.</programlisting><note><para>{SECOND}</para></note></book>"""
        self.assertEqual(paragraphs("markup", book.encode()), [FIRST, SECOND])

    def test_pages_of_man(self):
        page = r""".\" A comment of the page is not in the text.
.TH NAME 1 "a date of the page"
.SH DESCRIPTION
The
.I first
sentence of this text
is for the reader.
.nf
    The code of this page is not in the text.
.fi
.TP
.B \-\-option of the program
It is followed by a \fIsecond\fP one that
is in the same place.
"""
        self.assertEqual(paragraphs("man", page.encode()), [FIRST, SECOND])

    def test_plain_text_and_info(self):
        text = """File: x.info,  Node: Top,  Next: Other,  Up: (dir)

* Menu:
* Other::    The menu of this text is not in it.

The Heading
***********

The first sentence of this
text is for the reader.

     int code(of, the, text);

Name      The table of things      is not in the text.
Other     The table of others      is not in the text.
%
It is followed by a second one
that is in the same place.
"""
        self.assertEqual(paragraphs("text", text.encode()), [FIRST, SECOND])
        self.assertEqual(paragraphs("text", gzip.compress(text.encode())), [FIRST, SECOND])

    def test_entries_of_dictionaries(self):
        entries = r"""Abjure \Ab*jure"\, v. t. [imp. & p. p. {Abjured}.] [L. abjurare
   to deny [upon] oath.]
   1. To renounce upon oath; to forswear, as to the
      {realm} of the king.
      [1913 Webster]

   Syn: See {Renounce} and all of the others.
        [1913 Webster]
brooch
    n 1: a pin of gold that is worn by women [syn: {broach}]
    v 1: fasten with a pin or as if with one
"""
        self.assertEqual(paragraphs("dictionary", entries.encode()),
                         ["Abjure: To renounce upon oath; to forswear, as to the realm of the king.",
                          "Brooch: a pin of gold that is worn by women.", "Brooch: fasten with a pin or as if with one."])

    def test_compressed_blocks(self):
        verse = FIRST.replace("first", '<w lemma="1">first</w><note>The note of this verse is not in it.</note>')
        data = zlib.compress(f"<p/>{verse}<p/>".encode()) + b"\0" * 9 + zlib.compress(f"<p/>{SECOND}<p/>".encode())
        self.assertEqual(paragraphs("sword", data), [FIRST, SECOND])

        def strings(lines):
            return b"X\n" + b"".join(b"\0\4\0\t" + len(line).to_bytes(4, "big") + line.encode() for line in lines)
        data = b"\0\0\1\0" + zlib.compress(strings([FIRST[:21], FIRST[22:], "", SECOND]))
        self.assertEqual(paragraphs("r", data), [FIRST, SECOND])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
