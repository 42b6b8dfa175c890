"""What clang's C++ allows and Metal does not, found in clang's AST."""
import re

SPACE = re.compile(r"__attribute__\(\(address_space\(\d+\)\)\)|\b(?:device|constant|threadgroup)\b")
CONSTANT = re.compile(r"__attribute__\(\(address_space\(2\)\)\)|\bconstant\b")
POINTER_TO_FUNCTION = re.compile(r"\((?:[\w:]+::)?[*&]+\w*\)\(")
FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl", "CXXConversionDecl"}
CASTS = {"CXXReinterpretCastExpr", "CXXStaticCastExpr", "CXXConstCastExpr", "CXXFunctionalCastExpr", "CStyleCastExpr"}
DECLARED = {"VarDecl", "ParmVarDecl", "FieldDecl", "TypedefDecl", "TypeAliasDecl"}
SCOPES = {"NamespaceDecl", "LinkageSpecDecl"}
NAMED = FUNCTIONS | {"VarDecl", "CXXRecordDecl", "ClassTemplateDecl", "FunctionTemplateDecl", "EnumDecl",
                     "EnumConstantDecl", "TypedefDecl", "TypeAliasDecl"}


def offset_of(location):
    """An offset in the text, also where a macro was expanded."""
    location = location.get("expansionLoc", location)
    return location.get("offset")


def type_of(node):
    """A node's type without typedefs, address spaces as @, that of constants as @2."""
    written = node.get("type", {})
    shown = written.get("desugaredQualType", written.get("qualType", ""))
    shown = re.sub(r"decltype\((?:[^()]|\(\))*\)", "T", shown)
    return SPACE.sub("@", CONSTANT.sub("@2", shown))


class Rules:
    """Calls error(place, message) for each rule that the text breaks."""

    def __init__(self, text, names, error):
        self.text = text
        self.names = names
        self.report = error
        self.function_names = {}
        self.first_declarations = {}
        self.calls = {}

    def check(self, unit):
        nodes = unit["inner"]
        begin = next(i for i, node in enumerate(nodes) if node.get("name") == "egg_kernels_begin")
        for node in nodes[begin + 1:]:
            self.visit(node, [])
        self.recursion()

    def error(self, node, message):
        at = offset_of(node.get("loc", {})) or offset_of(node.get("range", {}).get("begin", {})) or 0
        self.report(self.text.place(at), message)

    def visit(self, node, above):
        """above: the nodes that hold this one, outermost first."""
        kind = node.get("kind")
        made_by_clang = node.get("isImplicit") or (above and above[-1].get("isImplicit"))
        if not made_by_clang and offset_of(node.get("range", {}).get("begin", {})) is not None:
            self.check_node(node, kind, above)
        function = next((n for n in reversed(above) if n["kind"] in FUNCTIONS), None)
        if function:
            for called in (node.get("referencedDecl", {}).get("id"), node.get("referencedMemberDecl")):
                if called:
                    self.calls.setdefault(function["id"], set()).add(called)
        if kind in FUNCTIONS:
            self.function_names[node["id"]] = node
            if "previousDecl" in node:
                self.first_declarations[node["id"]] = node["previousDecl"]
        for child in node.get("inner", []):
            if child.get("kind"):
                self.visit(child, above + [node])

    def check_node(self, node, kind, above):
        in_function = any(n["kind"] in FUNCTIONS or n["kind"] == "LambdaExpr" for n in above)
        in_scope = all(n["kind"] in SCOPES or n["kind"].endswith("TemplateDecl") for n in above)
        shown = type_of(node)
        if kind in NAMED and in_scope and node.get("name") in self.names:
            self.error(node, f"'{node['name']}' is declared here, and is a name of namespace metal")
        if re.search(r"\bdouble\b", shown):
            self.error(node, "there is no double in Metal; a literal needs its f")
        if re.search(r"\blong long\b", shown):
            self.error(node, "there is no long long in Metal")
        if self.is_function_pointer(node, kind, shown, above):
            self.error(node, "a pointer to a function is used")
        if kind == "LambdaExpr":
            self.error(node, "a lambda is used, which Metal has from 3.2 on")
        if kind == "CXXRecordDecl" and node.get("bases"):
            self.error(node, f"struct {node.get('name', '')} is derived from another")
        if kind == "VarDecl":
            self.check_storage(node, shown, in_function)
        if kind in DECLARED or kind in CASTS:
            self.check_pointer(node, shown, kind)
        if kind in FUNCTIONS:
            self.check_pointer(node, shown.split("(")[0], kind)

    @staticmethod
    def is_function_pointer(node, kind, shown, above):
        if node.get("castKind") == "FunctionToPointerDecay":
            return not above[-1]["kind"].endswith("CallExpr") or above[-1]["inner"][0] is not node
        return (kind in DECLARED or kind in CASTS or kind == "UnaryOperator") and POINTER_TO_FUNCTION.search(shown)

    def check_storage(self, node, shown, in_function):
        if in_function:
            if node.get("storageClass") == "static":
                self.error(node, f"the variable '{node.get('name')}' of a function is static")
        elif "@2" not in re.split(r"[*&]", shown)[-1]:
            self.error(node, f"the variable '{node.get('name')}' is not of a function, and not constant")

    def check_pointer(self, node, shown, kind):
        """A pointer or reference names the address space of what it points to; to clang, `thread` is nothing."""
        if POINTER_TO_FUNCTION.search(shown):
            return
        of_thread = sum("@" not in target for target in re.split(r"[*]|&+", shown)[:-1])
        if of_thread == 0:
            return
        text = self.text.text
        begin = offset_of(node["range"]["begin"])
        if kind in CASTS:
            end = text.find(">", begin) if "_cast" in text[begin:begin + 20] else offset_of(node["range"]["end"])
        else:
            end = offset_of(node["loc"])
        while begin > 0 and text[begin - 1] not in "(,;{}<>":
            begin -= 1
        if len(re.findall(r"\bthread\b", text[begin:end])) < of_thread:
            self.error(node, f"the pointer or reference '{node.get('name', shown)}' names no address space")

    def recursion(self):
        """Finds functions that call themselves, by way of others or not."""
        def first(function):
            while function in self.first_declarations:
                function = self.first_declarations[function]
            return function
        graph = {}
        for caller, called in self.calls.items():
            graph.setdefault(first(caller), set()).update(first(c) for c in called)
        done = set()
        for start in graph:
            reached, left = set(), list(graph[start])
            while left:
                function = left.pop()
                if function not in reached:
                    reached.add(function)
                    left += graph.get(function, ())
            if start in reached and start not in done:
                done |= reached
                node = self.function_names[start]
                self.error(node, f"the function '{node['name']}' calls itself")
