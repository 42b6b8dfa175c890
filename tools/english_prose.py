"""Prose out of the files of packages: each reader turns a file's bytes into paragraphs of one line each.

Used by tools/english. Markup, code and menus go; what is left is judged paragraph by paragraph (is_prose), so a reader
may be coarse: a table's cell or a menu's line is no sentence and goes there.
"""
import bz2
import gzip
import html
import re
import zlib

# The most frequent words: a paragraph of English has many of them, a line of code or of another language few.
COMMON = frozenset("""a about after all also an and any are as at be because been but by can could do does each for from had
has have he her his how i if in into is it its may more most must no not of on one only or other our out same she should so
some such than that the their them then there these they this those to two up use used was we were what when where which
who will with would you your""".split())
ASCII = str.maketrans({
    **{code: None for code in [*range(9), *range(14, 32), 127]},
    "\u00a0": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ", "\u202f": " ", "\u00ad": None, "\u200b": None, "\ufeff": None,
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"',
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": " - ", "\u2212": "-", "\u2026": "...",
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl"})
# Licences, notices and what programs write into the pages that they make.
BOILERPLATE = re.compile(
    r"copyright (\(c\)|\d)|©|all rights reserved|permission is (hereby )?granted|without warranty|merchantability|"
    r"\b(general public|free documentation|artistic|creative commons|apache|mit|bsd)[\w ,.-]* licen[cs]e|redistribut|"
    r"(generated|produced|created|converted) (by|with|from|using|on) |last (updated|modified)|click here|"
    r"this (page|document|manual) (was|is) (last|generated|for )|https?:|www\.", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?][\"')\]]{0,2}$|\]$")
LONG = 240  # bytes; a longer paragraph need not end like a sentence: a list or a listing follows
NOT_PROSE = re.compile(r"^(Example|Figure|Table|Listing) \d|\d#\d")  # captions, and formulas that were pictures
SYMBOLS = re.compile(r"[^a-zA-Z0-9 ,.;:!?'\"()\-\u00c0-\u024f]")
SPACES = re.compile(r"\s+")


def one_line(text):
    return SPACES.sub(" ", text.translate(ASCII)).strip()


def is_prose(line, common_share=0.2):
    """Whether the line is a sentence or several of English: begins and ends like one, of common words, with few symbols."""
    words = line.split(" ")
    if len(words) < 5 or not (SENTENCE_END.search(line) or len(line) > LONG):
        return False
    if not line[0].isupper() and line[0] not in "\"'(0123456789":
        return False
    common = sum(word.strip(",.;:()'\"!?").lower() in COMMON for word in words)
    lower = sum("a" <= letter <= "z" for letter in line)
    return (common >= common_share * len(words) and lower >= 0.68 * len(line) and len(SYMBOLS.findall(line)) <= 0.02 * len(line)
            and len(line) <= 9 * len(words) and not BOILERPLATE.search(line) and not NOT_PROSE.search(line))


def decoded(data):
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    elif data[:3] == b"BZh":
        data = bz2.decompress(data)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def elements(names):
    return re.compile(rf"<({names})\b(?:[^>]*[^>/])?>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)


COMMENT = re.compile(r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>|<!DOCTYPE[^>\[]*(\[.*?\])?\s*>", re.DOTALL)
NOT_READ = elements("head|script|style|pre|nav|form|select|button|textarea|svg|math|sup|programlisting|screen|synopsis|"
                    "funcsynopsis|cmdsynopsis|literallayout|bookinfo|articleinfo|refentryinfo|legalnotice|info|media|title")
# Tags within a sentence; every other tag ends a paragraph.
INLINE = re.compile(
    r"</?(a|abbr|acronym|application|b|bdi|big|br|citetitle|cite|classname|code|command|constant|database|del|dfn|emphasis|em|"
    r"email|envar|errorcode|filename|firstterm|font|foreignphrase|function|gui\w*|i|img|indexterm|inlinegraphic|ins|kbd|"
    r"keycap|keycombo|keyseq|key|keysym|label|link|literal|markup|menuchoice|mousebutton|nobr|option|optional|output|"
    r"parameter|phrase|productname|prompt|property|quote|replaceable|returnvalue|s|samp|shortcut|small|span|strike|strong|"
    r"structfield|sub|symbol|systemitem|sys|trademark|tt|type|u|uri|ulink|userinput|varname|var|wbr|xref|file|cmd|input|"
    r"app|sgmltag|interface)\b[^>]*>", re.IGNORECASE)
TAG = re.compile(r"<[^<>]*>")


def markup(data):
    """HTML, DocBook and Mallard."""
    text = COMMENT.sub(" ", decoded(data))
    text = NOT_READ.sub("<p>", text)
    text = re.sub(r"<br\s*/?>\s*<br\s*/?>", "<p>", text, flags=re.IGNORECASE)
    text = TAG.sub("\0", INLINE.sub("", text))
    for part in text.split("\0"):
        line = one_line(html.unescape(part))
        if line and "<" not in line and "&" not in line:
            yield line


def plain(data):
    """Plain text and info: paragraphs between empty lines; a line `%` (fortunes), a menu's and a node's end one too."""
    lines = []
    for line in decoded(data).split("\n") + [""]:
        text = line.rstrip().expandtabs()
        node = text.startswith(("%", "* ", "\x1f", "File: ")) or not text.strip("*-=_+#~. ")
        if lines and (node or (len(lines) > 1 and indent(text) > indent(lines[-1]))):
            if not any("   " in part.strip() for part in lines):
                yield one_line("\n".join(lines).replace("-\n", "-"))
            lines = []
        if not node:
            lines.append(text)


def indent(line):
    return len(line) - len(line.lstrip())


ESCAPE = re.compile(r"\\(?:f(?:\(..|\[[^]]*\]|.)|s[-+]?\d+|\*(?:\(..|\[[^]]*\]|.)|\((..)|\[([^]]*)\]|([-e&'`|^~ /,%:.0]))")
FONTS = ("B", "I", "SM", "SB", "R", "BR", "RB", "BI", "IB", "IR", "RI")
GLYPHS = {"-": "-", "e": "\\", "'": "'", "`": "'", "~": " ", " ": " ", "0": " ", "aq": "'", "cq": "'", "oq": "'", "dq": '"',
          "lq": '"', "rq": '"', "em": "-", "en": "-", "hy": "-", "bu": "", "co": "©"}


def unescaped(text):
    return ESCAPE.sub(lambda found: GLYPHS.get(found[1] or found[2] or found[3] or "", ""), text)


def manual(data):
    """Pages of man: paragraphs between requests; tags of lists and unfilled lines go."""
    words, skip, tag = [], False, False
    for line in decoded(data).split("\n") + [".PP"]:
        request = re.match(r"[.']\s*([A-Za-z\\]*)\s*(.*)", line)
        name = request[1] if request else ""
        if name in ("nf", "EX", "CS", "DS", "TS", "SY"):
            skip = True
        elif name in ("fi", "EE", "CE", "DE", "TE", "YS"):
            skip = False
        elif name in ("B", "I", "SM", "SB", "R"):
            text = request[2].replace('"', "")
        elif name in ("BR", "RB", "BI", "IB", "IR", "RI"):
            text = "".join(quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', request[2]))
        elif request and name not in ("", "\\", "ft", "ad", "na", "hy", "nh", "ne", "UR", "UE", "MT", "ME", "PD", "ie", "if", "el"):
            yield one_line(unescaped(" ".join(words)))
            words, tag = [], name in ("TP", "TH", "TQ")
            continue
        if request and (name not in FONTS or skip):
            continue
        if not request:
            text = line
        if tag:
            tag = False
        elif not skip:
            words.append(text)


BRACKETS = re.compile(r"\[[^\[\]]*\]")
SENSE = re.compile(r"\n\s*\n|\n *(?=\d+[.:] |\([a-z]\) |(?:n|v|adj|adv) \d*:? )")
SENSE_MARK = re.compile(r"^(?:(?:n|v|a|adj|adv|pl|t|i|p|prep|imp|vb|pr)\b[.,]? ?&? ?)*(?:\d+ ?[.:]|\([a-z]\)|:)?|<[^>]*>|[{}]")


def dictionary(data):
    """Entries of the dict server, each sense after its head word: `Abjure: To renounce upon oath.`"""
    for entry in re.split(r"\n(?=\S)", decoded(data)):
        while BRACKETS.search(entry):  # etymologies, sources, synonyms
            entry = BRACKETS.sub("", entry)
        first, _, rest = entry.partition("\n")
        head = re.split(r" *[\\,(]", first)[0].strip()
        for sense in SENSE.split(rest):
            text = SENSE_MARK.sub("", one_line(sense)).strip()
            if head and text and not text.startswith(("Syn:", "Note:", "See ")):
                yield f"{head[0].upper()}{head[1:]}: {text}" + ("" if text[-1] in ".!?" else ".")


def blocks(data):
    """What zlib has compressed in a file, one block after another."""
    start = data.find(b"x\x9c")
    while start >= 0:
        block = zlib.decompressobj()
        try:
            yield block.decompress(data[start:])
            start = data.find(b"x\x9c", len(data) - len(block.unused_data))
        except zlib.error:
            start = data.find(b"x\x9c", start + 1)


NOTE = re.compile(rb"<note\b.*?</note>|</?(?:w|q|l|lg|seg|hi|divineName|transChange|foreign)\b[^>]*>", re.DOTALL)


def scripture(data):
    """A text of SWORD."""
    for block in blocks(data):
        yield from markup(NOTE.sub(b"", block))


def strings_of_r(data):
    """The lines in a database of R: a string begins with its kind and its length."""
    for block in blocks(data):
        lines, position = [], 0
        for found in re.finditer(rb"\x00\x04\x00\x09(....)", block, re.DOTALL):
            if found.start() >= position:
                position = found.end() + max(0, int.from_bytes(found[1], "big", signed=True))
                lines.append(block[found.end():position])
        yield from plain(b"\n".join(lines))


READERS = {"markup": markup, "text": plain, "man": manual, "dictionary": dictionary, "sword": scripture, "r": strings_of_r}


def paragraphs(reader, data):
    """The paragraphs of prose in a file."""
    common_share = 0.1 if reader == "dictionary" else 0.2  # a definition has few verbs
    return [line for line in READERS[reader](data) if is_prose(line, common_share)]
