"use strict";
// The threshold: costs set it, the slider moves it, and the counts of the test rows follow.
(() => {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const at = (id) => document.getElementById(id);
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const inputs = { chosen: at("class"), alarm: at("cost-false"), miss: at("cost-miss") };
  const slider = at("slider");
  const last = facts.thresholds.length - 1;

  const cost = (input) => {
    const value = Number(input.value);
    return Number.isFinite(value) && value >= 0 ? value : 0;
  };

  function outcome(step) {
    const one = facts.classes[Number(inputs.chosen.value)];
    const hits = one.hits[step];
    const alarms = one.false[step];
    const missed = one.events - hits;
    return { hits, false: alarms, missed, quiet: facts.rows - one.events - alarms };
  }

  function price(counts) {
    return 1000 * (cost(inputs.alarm) * counts.false + cost(inputs.miss) * counts.missed)
      / facts.rows;
  }

  function byCost() {
    const total = cost(inputs.alarm) + cost(inputs.miss);
    slider.value = total > 0 ? Math.round((last * cost(inputs.alarm)) / total) : last / 2;
    show();
  }

  function show() {
    const step = Number(slider.value);
    const counts = outcome(step);
    for (const name of Object.keys(counts)) at(name).textContent = whole.format(counts[name]);
    at("threshold").textContent = `${(100 * facts.thresholds[step]).toFixed(1)}%`;
    at("cost").textContent = whole.format(price(counts));
    const one = facts.classes[Number(inputs.chosen.value)];
    const never = (1000 * cost(inputs.miss) * one.events) / facts.rows;
    const always = (1000 * cost(inputs.alarm) * (facts.rows - one.events)) / facts.rows;
    at("compare").textContent =
      `Never an alarm costs ${whole.format(never)}, always one ${whole.format(always)}.`;
    draw(step);
  }

  function mark(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text) element.textContent = text;
    return element;
  }

  function draw(step) {
    const [left, right, top, foot] = [46, 358, 12, 112];
    const prices = facts.thresholds.map((_, k) => price(outcome(k)));
    const most = Math.max(...prices, 1e-9);
    const x = (k) => left + ((right - left) * k) / last;
    const y = (value) => foot - ((foot - top) * value) / most;
    const line = prices.map((value, k) => `${x(k).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
    const marks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
      mark("path", { class: "grid", d: `M${x(share * last)} ${foot}V${top}` }),
      mark("text", { class: "tick", x: x(share * last), y: foot + 14, "text-anchor": "middle" },
        `${100 * share}%`),
    ]);
    marks.push(
      mark("text", { class: "tick", x: left - 5, y: top + 8, "text-anchor": "end" },
        whole.format(most)),
      mark("text", { class: "tick", x: left - 5, y: foot + 4, "text-anchor": "end" }, "0"),
      mark("text", { class: "axis", x: (left + right) / 2, y: foot + 30, "text-anchor": "middle" },
        "alarm from this probability on; cost of 1,000 rows"),
      mark("path", { class: "line0", d: `M${line}` }),
      mark("path", { class: "mark", d: `M${x(step).toFixed(1)} ${foot}V${top}` }),
      mark("circle", { class: "dot0", cx: x(step), cy: y(prices[step]), r: 4 }),
    );
    at("cost-curve").replaceChildren(...marks);
  }

  inputs.chosen.addEventListener("change", show);
  inputs.alarm.addEventListener("input", byCost);
  inputs.miss.addEventListener("input", byCost);
  slider.addEventListener("input", show);
  at("by-cost").addEventListener("click", byCost);
  show();
})();
