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
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined));
  return element;
}

const shownIn = new WeakMap(); // by parent: its children as HTML

// Gives the parent these children. It stays as it is if they look as before, so that the reader keeps an open list
// or a selected text. If they do not, the control of the same name gets the focus back.
export function renew(parent, ...children) {
  const fresh = h("div", {}, ...children);
  if (shownIn.get(parent) === fresh.innerHTML) return;
  shownIn.set(parent, fresh.innerHTML);
  const nameOf = (control) => {
    const text = control.getAttribute("aria-label") ?? control.textContent;
    return [control.tagName, text, control.getAttribute("href")].join(" ");
  };
  const focused = parent.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  parent.replaceChildren(...fresh.childNodes);
  if (focused === null) return;
  const controls = [...parent.querySelectorAll("a, button, input, select, summary")];
  controls.find((control) => nameOf(control) === focused)?.focus();
}

// A section's first line: its title and what stands beside it.
export const head = (title, ...beside) => h("div", { class: "head" }, h("h2", {}, title), ...beside);

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

// A colour of style.css, light or dark.
export const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
