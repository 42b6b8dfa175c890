// Makes elements without parsing any text as HTML, so that texts from files are shown as they are.

// h("a", {href: "#/", onclick: f}, "text", element, ...); null children are left out.
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return element;
}

// A <select> of [value, text] pairs.
export function choice(label, options, chosen, onchange) {
  const select = h(
    "select",
    { "aria-label": label, onchange: () => onchange(select.value) },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return h("label", {}, h("span", {}, label), select);
}

export function status(name) {
  return h("span", { class: `status ${name}` }, name);
}
