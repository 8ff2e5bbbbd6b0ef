(() => {
  "use strict";
  const list = document.getElementById("list");
  const entries = [...list.children];
  const form = document.getElementById("filter");
  const text = document.getElementById("text");
  const protocol = document.getElementById("protocol");
  const role = document.getElementById("role");
  const multimodal = document.getElementById("multimodal");
  const states = [...form.querySelectorAll("[name=state]")];
  const severity = states.map((one) => one.value);
  const heads = [...document.querySelectorAll("#sort [data-key]")];

  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = states.filter((one) => one.checked).map((one) => one.value);
    const key = protocol ? protocol.value : "eagle3";
    let shown = 0;
    for (const entry of entries) {
      const data = entry.dataset;
      const fits = words.every((word) => data.words.includes(word))
        && (!wanted.length || wanted.includes(data[key]))
        && (!role.value || data.role === role.value)
        && (!multimodal.checked || "multimodal" in data);
      entry.hidden = !fits;
      shown += fits;
    }
    document.getElementById("count").textContent = `${shown} of ${entries.length} classes`;
    document.getElementById("none").hidden = shown > 0;
  };

  const value = (entry, key) => {
    if (key === "name") return entry.id.toLowerCase();
    const found = entry.dataset[key];
    return key === "role" ? found : String(severity.indexOf(found)).padStart(2, "0");
  };

  const sort = (head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = head.dataset.key;
    const compare = (a, b) => {
      const [x, y] = [value(a, key), value(b, key)];
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || (a.id < b.id ? -1 : 1);
    };
    list.append(...entries.sort(compare));
  };

  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
    head.setAttribute("role", "columnheader");
  }

  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.classList.contains("entry")) return;
    if (target.hidden) {
      form.reset();
      filter();
    }
    target.open = true;
    target.scrollIntoView();
  };

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  addEventListener("hashchange", reveal);
  filter();
  reveal();
})();
