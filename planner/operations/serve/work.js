// The page to work in. It keeps the dump in memory, asks the service about it, and shows what comes
// back. What a cluster calls things is put in as text; markup comes from the service's own pages,
// which escape it, and at one place alone: `articles`.

const MOST_SHOWN = 200; // of the pending: more are found by the filter
const FEW = 8; // so many pending need no filter
const PAUSE_MS = 500; // without another change, before the service is asked
const TRIES = 5; // while the service is busy
const WIDE = 16; // a label of more characters stands above its field

const at = (id) => document.getElementById(id);
const policy = globalThis.trustedTypes?.createPolicy("answers", { createHTML: (text) => text });

const state = { dump: null, name: "", known: null, short: [], edits: new Map(), run: null, timer: 0, turn: 0 };

// Elements

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// A name as it may stand on a page: what cannot be seen, or turns others around, as an escape; the
// service's own pages write it alike.
function visible(text) {
  const escaped = (sign) => {
    const code = sign.codePointAt(0);
    const [letter, length] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return `\\${letter}${code.toString(16).padStart(length, "0")}`;
  };
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped);
}

const named = (text) => make("bdi", { class: "name" }, visible(text));
const many = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function say(text, busy = false) {
  at("status").textContent = text;
  at("answer").setAttribute("aria-busy", String(busy));
}

function complain(text) {
  at("error").textContent = text;
  // On a phone the error stands over the lower end of the page: not over the field it is about.
  at("fields").querySelector(":focus")?.scrollIntoView({ block: "nearest" });
}

// The service

const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); });
  });

async function ask(path, query, signal, dump = state.dump) {
  for (let tries = 1; ; tries += 1) {
    let answer;
    try {
      const address = query.size ? `${path}?${query}` : path;
      answer = await fetch(address, { method: "POST", body: dump, signal, cache: "no-store" });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new Error("The service cannot be reached, or broke off. Is planner serve still running, and does it take a dump as large as this one?");
    }
    if (answer.ok) return answer;
    const said = await answer.json().catch(() => ({}));
    const why = typeof said.error === "string" ? said.error : `The service answers with status ${answer.status}.`;
    if (answer.status !== 503 || tries === TRIES) throw new Error(why);
    const seconds = Number(answer.headers.get("Retry-After")) || 5;
    say(`The service is busy: ${why}. It is asked again in ${seconds} s.`, true);
    await pause(1000 * seconds, signal);
  }
}

// An error in the words of this page: what it names files and fields by.
function inWords(text, name) {
  for (const [target, { value, object, setting }] of state.edits) {
    const whose = `${object.kind} ${object.name}: `;
    if (text.startsWith(`edit ${target}=${value}: `) && text.includes(whose)) {
      return `${setting.label} of ${object.name}: ${text.slice(text.indexOf(whose) + whose.length)}`;
    }
  }
  return text.replace(/^stdin\b/, () => visible(name));
}

// One question at a time: another one takes the place of the one before, which is given up.
async function only(work, name = state.name) {
  state.run?.abort();
  const run = new AbortController();
  state.run = run;
  complain("");
  try {
    await work(run.signal);
  } catch (error) {
    if (run.signal.aborted) return;
    say(at("documents").querySelector("article") ? "There is no answer: below is the last one." : "There is no answer.");
    complain(inWords(error.message, name));
  }
}

// The dump

async function takeFiles(files) {
  if (files.length !== 1) {
    complain("One file is read, please. planner snapshot -o cluster.json writes one of a whole cluster.");
    return;
  }
  const turn = (state.turn += 1);
  let bytes;
  try {
    bytes = await files[0].arrayBuffer();
  } catch {
    if (turn === state.turn) complain(`${visible(files[0].name)} cannot be read: it is a folder, or gone.`);
    return;
  }
  // A small file is read before a large one that was chosen earlier: the later choice counts.
  if (turn === state.turn) await take(bytes, files[0].name);
}

// A dump that the service has itself: an example, or what it was started with.
async function bring(path, name) {
  const turn = (state.turn += 1);
  const answer = await fetch(path, { cache: "no-store" }).catch(() => null);
  const bytes = answer?.ok ? await answer.arrayBuffer().catch(() => null) : null;
  if (turn !== state.turn) return;
  if (bytes) await take(bytes, name);
  else complain("The service cannot be reached. Is planner serve still running?");
}

async function take(bytes, name) {
  state.turn += 1;
  clearTimeout(state.timer); // a question about the dump before would take the place of this one
  await only(async (signal) => {
    say(`Reading ${visible(name)} ...`, true);
    const answer = await ask("/v1/settings", new URLSearchParams(), signal, bytes);
    const known = await answer.json();
    // A dump that cannot be read leaves the one before, and all that is shown of it.
    Object.assign(state, { dump: bytes, name, known, short: [] });
    state.edits.clear();
    at("whatif").hidden = true;
    at("pending").replaceChildren();
    at("documents").replaceChildren();
    showKnown();
  }, name);
}

function showKnown() {
  const { pending, objectives, left_out: leftOut } = state.known;
  const count = many(pending.length, "workload");
  at("loaded").replaceChildren(named(state.name), `: ${many(state.dump.byteLength, "byte")}, ${count} pending`);
  at("loaded").hidden = at("who").hidden = false;
  at("filter").value = "";
  at("filter-row").hidden = pending.length <= FEW;
  const wanted = at("objective").value;
  at("objective").replaceChildren(...objectives.map((one) => make("option", { value: one.name }, one.name)));
  if (objectives.some((one) => one.name === wanted)) at("objective").value = wanted;
  showObjective();
  showPending();
  at("objects-more").hidden = leftOut === 0;
  at("objects-more").textContent = `${many(leftOut, "more workload")} that run are not listed here: planner whatif changes them, too.`;
  at("paste").open = false;
  at("file-label").textContent = "Choose another dump";
  at("file-hint").textContent = "or drop it on this page.";
  if (pending.length === 1) {
    at("pending").querySelector("input").checked = true;
    chosen();
  } else {
    say(pending.length ? `${count} pending: choose one.` : "Nobody is pending: there is nothing to plan for.");
  }
  (at("pending").querySelector("input") ?? at("who-title")).focus();
}

// Who, and what counts

function showPending() {
  const wanted = at("filter").value.trim().toLowerCase();
  const kept = selected()?.key;
  const found = state.known.pending.filter((one) => one.name.toLowerCase().includes(wanted));
  const shown = found.slice(0, MOST_SHOWN);
  at("pending").replaceChildren(
    ...shown.map((one) =>
      make(
        "label", { class: "choice" },
        make("input", { type: "radio", name: "pending", value: one.key, checked: one.key === kept }),
        named(one.name),
        make("small", {}, named(one.queue), `, priority ${one.priority}`),
      ),
    ),
  );
  at("pending-more").hidden = found.length > 0 && found.length === shown.length;
  at("pending-more").textContent = found.length
    ? `${many(found.length - shown.length, "more")}: the filter finds them.`
    : "No name has that.";
}

function selected() {
  const key = at("pending").querySelector("input:checked")?.value;
  return state.known?.pending.find((one) => one.key === key);
}

function showObjective() {
  const goal = state.known.objectives.find((one) => one.name === at("objective").value);
  at("objective-says").textContent = goal ? `${goal.summary}.` : "";
}

function chosen() {
  const one = selected();
  if (!one) return;
  at("whatif").hidden = false;
  const kept = at("object").value;
  const groups = new Map();
  state.known.objects.forEach((object, place) => {
    const option = make("option", { value: place }, visible(object.name));
    groups.set(object.kind, [...(groups.get(object.kind) ?? []), option]);
  });
  const listed = [...groups].map(([kind, options]) => make("optgroup", { label: kind }, ...options));
  at("object").replaceChildren(...listed);
  const own = state.known.objects.findIndex((object) => object.name === one.queue && !isWorkload(object));
  at("object").value = state.edits.size && kept ? kept : String(Math.max(0, own));
  showFields();
  showEdits();
  plan(0);
}

// What if

const isWorkload = (object) => object.settings.every((one) => one.group === "");

function showFields() {
  const object = state.known.objects[Number(at("object").value)];
  const groups = new Map();
  for (const setting of object?.settings ?? []) {
    groups.set(setting.group, [...(groups.get(setting.group) ?? []), setting]);
  }
  const shown = [...groups].map(([group, settings], number) => ({
    group,
    isQuota: settings.every((one) => one.choices.length === 0),
    isEdited: settings.some((one) => state.edits.has(one.target)),
    set: make("fieldset", { class: "fields" }, make("legend", {}, visible(group || object.kind)),
      ...settings.map((setting, place) => field(object, setting, `field-${number}-${place}`))),
  }));
  const isFirst = (one) => !state.short.length || !one.isQuota || one.group === "" || state.short.includes(visible(one.group));
  const first = shown.filter(isFirst).sort((one, other) => Number(other.isQuota) - Number(one.isQuota));
  const rest = shown.filter((one) => !isFirst(one));
  const fold = make("details", { open: rest.some((one) => one.isEdited) || !first.length },
    make("summary", {}, "Quota that is not short"), ...rest.map((one) => one.set));
  at("fields").replaceChildren(...first.map((one) => one.set), ...(rest.length ? [fold] : []));
}

// What is short comes first, once a plan says what that is; nobody's field goes away under the hand.
function learn(found) {
  const captions = found.flatMap((one) => [...one.querySelectorAll("section > .gauges:not(.slots) figcaption bdi")]);
  const short = captions.map((caption) => caption.textContent);
  if (short.join("\n") === state.short.join("\n") || at("fields").contains(document.activeElement)) return;
  state.short = short;
  showFields();
}

function field(object, setting, id) {
  const value = state.edits.get(setting.target)?.value ?? setting.value;
  const input = setting.choices.length ? choice(setting, value, id) : text(value, id);
  const was = make("span", { class: "was", id: `${id}-was` });
  const isWide = setting.label.length > WIDE;
  const row = make("div", { class: isWide ? "row wide" : "row" }, make("label", { for: id }, setting.label), input, was);
  input.setAttribute("aria-describedby", was.id);
  input.dataset.target = setting.target;
  const mark = () => {
    const edited = state.edits.has(setting.target);
    row.classList.toggle("edited", edited);
    was.textContent = edited ? `was ${visible(setting.value) || "not set"}` : "";
  };
  input.addEventListener("input", () => {
    const now = input.value.trim();
    if (now === setting.value || now === "") state.edits.delete(setting.target);
    else state.edits.set(setting.target, { value: now, object, setting });
    input.removeAttribute("aria-invalid");
    mark();
    showEdits();
    plan(PAUSE_MS);
  });
  // An emptied field asks for nothing: it shows what holds again once it is left.
  input.addEventListener("change", () => {
    if (input.value.trim() === "") input.value = setting.value;
  });
  mark();
  return row;
}

function text(value, id) {
  const input = make("input", { type: "text", id, autocomplete: "off", spellcheck: "false" });
  input.value = value;
  return input;
}

function choice(setting, value, id) {
  const all = setting.choices.includes(setting.value) ? setting.choices : [setting.value, ...setting.choices];
  const select = make("select", { id }, ...all.map((one) => make("option", { value: one }, visible(one) || "not set")));
  select.value = value;
  return select;
}

function showEdits() {
  at("changed").hidden = state.edits.size === 0;
  at("edits").replaceChildren(
    ...[...state.edits].map(([target, { value, object, setting }]) => {
      const undo = make("button", { type: "button", "aria-label": `Undo ${setting.label} of ${visible(object.name)}` }, "Undo");
      undo.addEventListener("click", () => restore([target]));
      const what = make("span", {}, named(object.name), ` ${[setting.group, setting.label].filter(Boolean).map(visible).join(": ")} `,
        make("strong", {}, `${visible(setting.value) || "not set"} → ${visible(value)}`));
      return make("li", {}, what, undo);
    }),
  );
}

function restore(targets) {
  for (const target of targets) state.edits.delete(target);
  showFields();
  showEdits();
  (state.edits.size ? at("changed-title") : at("object")).focus();
  plan(0);
}

function open(object) {
  at("object").value = String(state.known.objects.indexOf(object));
  showFields();
  (at("fields").querySelector("input, select") ?? at("object")).focus();
}

// The answer

function plan(wait) {
  clearTimeout(state.timer);
  state.run?.abort();
  const one = selected();
  if (!one) return;
  say(`Planning for ${visible(one.name)} ...`, true);
  state.timer = setTimeout(() => only((signal) => answer(one, signal)), wait);
}

async function answer(one, signal) {
  const query = new URLSearchParams({ pending: one.key, objective: at("objective").value });
  const edits = [...state.edits].map(([target, { value }]) => `${target}=${value}`);
  for (const edit of edits) query.append("set", edit);
  const path = edits.length ? "/v1/page/whatif" : "/v1/page";
  try {
    const found = articles(await (await ask(path, query, signal)).text(), "plan");
    at("documents").replaceChildren(...found);
    learn(found);
    say(summary(found));
  } catch (error) {
    if (!signal.aborted) blame(error.message);
    throw error; // the last answer stays, and the status says what it is
  }
  if (edits.length) return;
  const said = at("status").textContent;
  say(`${said} The reasons follow ...`, true);
  const why = articles(await (await ask("/v1/page/explanation", query, signal)).text(), "why");
  at("documents").append(...why);
  say(said);
}

// The answer in a sentence or two, for who hears it, or sees nothing else of it on a phone.
function summary(found) {
  const lines = (selector) => found.flatMap((one) => [...one.querySelectorAll(selector)]).flatMap((one) => one.textContent.trim().split(/\n+/));
  const [badge = ""] = lines("header .badge");
  const answer = lines("header .answer").map((line) => (badge && line.startsWith(badge) ? `${badge}: ${line.slice(badge.length).trim()}` : line));
  const hit = lines(".names > .label").filter((label) => label.includes("victim of the plan")).map((label) => label.replace(/ (\d+)$/, ": $1"));
  const change = hit.length ? hit : ["The plan's victims stay the same"];
  return `${[...(state.edits.size ? change : []), ...answer].join(". ")}.`;
}

// Mark the fields that an error is about.
function blame(message) {
  for (const input of at("fields").querySelectorAll("[data-target]")) {
    if (message.includes(`${input.dataset.target}=`)) input.setAttribute("aria-invalid", "true");
  }
}

// The articles of a page of the service, made to stand below the headings of this one.
function articles(html, prefix) {
  const page = new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
  const found = [...page.querySelectorAll("main > article")].map((one) => document.adoptNode(one));
  for (const article of found) {
    article.id = `${prefix}-${article.id}`;
    for (const one of article.querySelectorAll("[id]")) one.id = `${prefix}-${one.id}`;
    for (const one of article.querySelectorAll("[aria-labelledby]")) {
      one.setAttribute("aria-labelledby", `${prefix}-${one.getAttribute("aria-labelledby")}`);
    }
    for (const heading of article.querySelectorAll("h1, h2, h3, h4, h5")) lower(heading);
    for (const who of article.querySelectorAll(".gauges .who")) connect(who);
  }
  return found;
}

function lower(heading) {
  const lowered = make(`h${Number(heading.tagName[1]) + 1}`);
  for (const { name, value } of heading.attributes) lowered.setAttribute(name, value);
  lowered.append(...heading.childNodes);
  heading.replaceWith(lowered);
}

// A queue in the tree leads to what can be changed in it.
function connect(who) {
  const name = who.querySelector(".name");
  const kind = who.querySelector("small")?.textContent.split(",")[0].trim();
  const object = state.known.objects.find((one) => one.kind === kind && visible(one.name) === name.textContent);
  if (!object) return;
  const button = make("button", { type: "button", title: "Change it" });
  button.append(...name.childNodes);
  button.addEventListener("click", () => open(object));
  name.append(button);
}

// Events

at("file").addEventListener("change", (event) => {
  if (event.target.files.length) takeFiles(event.target.files);
});
at("take").addEventListener("click", () => {
  take(new TextEncoder().encode(at("pasted").value), "what was pasted");
});
for (const kind of ["dragenter", "dragover"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  });
}
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("over");
});
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("over");
  takeFiles(event.dataTransfer.files);
});
at("filter").addEventListener("input", showPending);
at("pending").addEventListener("change", () => chosen());
at("objective").addEventListener("change", () => {
  showObjective();
  plan(0);
});
at("object").addEventListener("change", showFields);
at("undo-all").addEventListener("click", () => restore([...state.edits.keys()]));
at("example").addEventListener("click", () => bring("/example", "an example"));
if (document.body.dataset.state) bring("/state", document.body.dataset.state);
