// The filter of the table of names: a row is shown if it has every word and its state is ticked.
(() => {
  const box = document.getElementById("names-filter");
  const count = document.getElementById("names-count");
  const states = [...document.querySelectorAll("#names-states input")];
  const rows = [...document.querySelectorAll("#names tbody tr")].map((row) => [row, row.textContent.toLowerCase()]);
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(states.filter((each) => each.checked).map((each) => each.value));
    let shown = 0;
    for (const [row, text] of rows) {
      const fits = wanted.has(row.dataset.state) && words.every((word) => text.includes(word));
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown.toLocaleString("en")} name${shown === 1 ? "" : "s"}`;
  };
  box.addEventListener("input", filter);
  states.forEach((each) => each.addEventListener("change", filter));
  box.value = new URLSearchParams(location.search).get("q") || "";
  filter();
})();
