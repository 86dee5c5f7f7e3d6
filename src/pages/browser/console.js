// @ts-check
/**
 * What the pages of the console do in a browser. Every page is complete without it.
 *
 * 1. The live part of a page is fetched again when one of its topics moved, and replaced in place.
 * 2. Times are shown in the viewer's zone, which they name, with UTC on hover. One that lies ahead, such as
 *    a deadline, has its hour beside its distance: a phone has no hover.
 * 3. Ids can be copied, and sections can be reached by keyboard.
 * 4. A form is sent once: the response to a second click would show why the second one did nothing, and hide
 *    what the first one did.
 * 5. What a person typed is kept, also when the session has ended or the page is gone.
 * 6. A page that could not be shown because the database is unavailable is opened when it is back.
 * 7. The notice of an action is shown once: the address does not keep it. A page that is loaded again, or reached on
 *    the way back, would look as if the action was carried out again.
 */

const HOUR_MS = 3_600_000;
const RELATIVE_EVERY_MS = 20_000;

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const localMinute = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
});
const localClock = new Intl.DateTimeFormat(undefined, { timeStyle: 'long' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

/** @param {number} fromNowMs */
function describe(fromNowMs) {
  // A deadline is never shown as farther away than it is.
  const whole = fromNowMs > 0 ? Math.floor : Math.round;
  const minutes = fromNowMs / 60_000;
  if (Math.abs(minutes) < 1) return fromNowMs > 0 ? 'in less than 1 min' : 'just now';
  if (Math.abs(minutes) < 90) return relative.format(whole(minutes), 'minute');
  if (Math.abs(fromNowMs) < 48 * HOUR_MS) {
    return relative.format(whole(fromNowMs / HOUR_MS), 'hour');
  }
  return relative.format(whole(fromNowMs / (24 * HOUR_MS)), 'day');
}

/** @param {ParentNode} root */
function showTimes(root) {
  for (const element of root.querySelectorAll('time[datetime]')) {
    const text = element.getAttribute('datetime') ?? '';
    const at = new Date(text);
    // A date without a time has no zone.
    if (text.length <= 10 || Number.isNaN(at.getTime())) continue;
    const utc = `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
    const fromNowMs = at.getTime() - Date.now();
    const distance = describe(fromNowMs);
    if (element.hasAttribute('data-relative')) {
      element.toggleAttribute('data-ahead', fromNowMs > 0);
      setText(element, fromNowMs > 0 ? `${distance}, ${localMinute.format(at)}` : distance);
      element.setAttribute('title', `${local.format(at)} · ${utc}`);
    } else {
      setText(element, local.format(at));
      element.setAttribute('title', `${utc} · ${distance}`);
    }
  }
}

/** Leaves a selection in equal text alone. @param {Element} element @param {string} text */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {ParentNode} root */
function addCopyButtons(root) {
  for (const code of root.querySelectorAll('.id > code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', `Copy ${code.textContent}`);
    code.after(button);
  }
}

/** @param {Element} named */
async function copyId(named) {
  const text = named.textContent ?? '';
  const isCopied = await copyText(text, named);
  showNotice(isCopied ? `Copied ${text}` : 'The browser refused to copy. Select the text instead.');
}

/** @param {string} text @param {Element} named */
async function copyText(text, named) {
  if (navigator.clipboard) {
    return await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  // A page without TLS on another host has no clipboard: copy a selection instead.
  getSelection()?.selectAllChildren(named);
  return document.execCommand('copy');
}

let clearingNotice = 0;

/** Shows a short text for a moment, also to screen readers. @param {string} text */
function showNotice(text) {
  const place = document.getElementById('short-notice');
  if (!place) return;
  place.textContent = text;
  clearTimeout(clearingNotice);
  clearingNotice = setTimeout(() => {
    place.textContent = '';
  }, 4_000);
}

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const named = target?.closest('button.copy')?.previousElementSibling;
  if (named) void copyId(named);
  if (target?.closest('[data-help]')) openHelp();
});

const SENT_FOR_MS = 30_000;
/** Forms that wait for their responses. @type {WeakSet<Element>} */
let sentForms = new WeakSet();
let sentAtMs = Number.NEGATIVE_INFINITY;

document.addEventListener('submit', (event) => {
  const form = event.target instanceof Element ? event.target : null;
  if (event.defaultPrevented || form?.getAttribute('method') !== 'post') return;
  if (sentForms.has(form)) {
    event.preventDefault();
    showNotice(
      'Sent already. Wait for the response. If none comes, look in another tab at what was done.',
    );
  }
  sentForms.add(form);
  sentAtMs = performance.now();
  // A person may have stopped the page from loading.
  setTimeout(() => sentForms.delete(form), SENT_FOR_MS);
});

// A page that the browser kept while another was shown.
addEventListener('pageshow', () => {
  sentForms = new WeakSet();
  sentAtMs = Number.NEGATIVE_INFINITY;
});

const SHORTCUTS_OFF = 'tallyhook.shortcuts-off';
let isAfterG = false;

function openHelp() {
  const help = document.getElementById('help');
  if (help instanceof HTMLDialogElement && !help.open) help.showModal();
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && target.matches('input, select, textarea');
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
  if (localStorage.getItem(SHORTCUTS_OFF) !== null || document.querySelector('dialog[open]'))
    return;
  if (pressed(event.key)) event.preventDefault();
});

/** @param {string} key */
function pressed(key) {
  const goes = isAfterG;
  isAfterG = !goes && key === 'g';
  if (goes) return goTo(key);
  switch (key) {
    case '/': {
      const search = document.querySelector('input[type="search"]');
      if (search instanceof HTMLElement) search.focus();
      return search !== null;
    }
    case '?':
      openHelp();
      return true;
    case 'c': {
      const named = document.activeElement?.matches('.id > a') ? document.activeElement : null;
      if (named) void copyId(named);
      return named !== null;
    }
    default:
      return false;
  }
}

/** @param {string} key */
function goTo(key) {
  const link = document.querySelector(`#help a[data-key="${CSS.escape(key)}"]`);
  if (!(link instanceof HTMLAnchorElement)) return false;
  location.assign(link.href);
  return true;
}

const choice = document.getElementById('shortcuts');
if (choice instanceof HTMLInputElement) {
  choice.checked = localStorage.getItem(SHORTCUTS_OFF) === null;
  choice.addEventListener('change', () => {
    if (choice.checked) localStorage.removeItem(SHORTCUTS_OFF);
    else localStorage.setItem(SHORTCUTS_OFF, '1');
  });
}

/** Rows and parts that have a name stay the same element when others come and go. @param {Node} node */
function nameOf(node) {
  if (!(node instanceof Element)) return undefined;
  return node.getAttribute('data-key') ?? (node.id || undefined);
}

/** The named children that stay; the others are removed. @param {Element} to @param {Element} from */
function keepNamed(to, from) {
  const wanted = new Set([...from.childNodes].map(nameOf));
  /** @type {Map<string, ChildNode>} */
  const kept = new Map();
  // A copy, because `childNodes` changes while children are removed.
  for (const child of Array.from(to.childNodes)) {
    const name = nameOf(child);
    if (name !== undefined && wanted.has(name)) kept.set(name, child);
    else if (name !== undefined) child.remove();
  }
  return kept;
}

/**
 * Touches nothing that is equal already: focus, selection and positions of scrolling stay.
 * @param {Element} to @param {Element} from
 */
function replaceChildren(to, from) {
  const named = keepNamed(to, from);
  /** @type {ChildNode | null} */
  let next = to.firstChild;
  for (const wanted of from.childNodes) {
    const name = nameOf(wanted);
    const match = name === undefined ? findAlike(next, wanted) : named.get(name);
    if (match?.nodeName !== wanted.nodeName) {
      to.insertBefore(document.importNode(wanted, true), next);
      continue;
    }
    if (match === next) next = next.nextSibling;
    else to.insertBefore(match, next);
    replaceNode(match, wanted);
  }
  while (next) {
    const rest = next;
    next = next.nextSibling;
    rest.remove();
  }
}

/** @param {ChildNode | null} from @param {ChildNode} wanted */
function findAlike(from, wanted) {
  for (let node = from; node; node = node.nextSibling) {
    if (node.nodeName === wanted.nodeName && nameOf(node) === undefined) return node;
  }
  return undefined;
}

/** @param {ChildNode} to @param {ChildNode} from */
function replaceNode(to, from) {
  if (to instanceof Element && from instanceof Element) {
    replaceAttributes(to, from);
    replaceChildren(to, from);
  } else if (to.nodeValue !== from.nodeValue) {
    to.nodeValue = from.nodeValue;
  }
}

/** What a person unfolded stays unfolded. @param {Element} to @param {Element} from */
function replaceAttributes(to, from) {
  const isKept = (/** @type {string} */ name) => name === 'open' && to.nodeName === 'DETAILS';
  for (const name of to.getAttributeNames()) {
    if (!from.hasAttribute(name) && !isKept(name)) to.removeAttribute(name);
  }
  for (const { name, value } of from.attributes) {
    if (to.getAttribute(name) === value || isKept(name)) continue;
    to.setAttribute(name, value);
    if (name === 'value' && to instanceof HTMLInputElement) to.value = value;
  }
}

/** The element that a person looks at: it stays where it is on the screen. @param {Element} region */
function findAnchor(region) {
  const focused = document.activeElement;
  if (focused && focused !== region && region.contains(focused)) return focused;
  const hovered = [...region.querySelectorAll('[data-key]:hover')].at(-1);
  if (hovered) return hovered;
  if (scrollY === 0) return undefined;
  const parts = [...region.querySelectorAll('[data-key], section')];
  return parts.find((part) => part.getBoundingClientRect().top >= 0);
}

/** @param {HTMLElement} region @param {Element} fresh */
function replaceInPlace(region, fresh) {
  const focused = document.activeElement;
  const anchor = findAnchor(region);
  const before = anchor?.getBoundingClientRect().top ?? 0;
  replaceChildren(region, fresh);
  if (focused instanceof HTMLElement && focused.isConnected && document.activeElement !== focused) {
    focused.focus({ preventScroll: true });
  }
  if (anchor?.isConnected) scrollBy(0, anchor.getBoundingClientRect().top - before);
}

/** Whether a form of the region has input that a replacement would lose. @param {Element} region */
function hasInput(region) {
  return [...region.querySelectorAll('input, select, textarea')].some((field) => {
    if (field === document.activeElement) return true;
    if (field instanceof HTMLSelectElement) {
      const standard = [...field.options].findIndex(({ defaultSelected }) => defaultSelected);
      return field.selectedIndex !== Math.max(standard, 0);
    }
    if (field instanceof HTMLInputElement && /^(checkbox|radio)$/.test(field.type)) {
      return field.checked !== field.defaultChecked;
    }
    const text = /** @type {HTMLInputElement | HTMLTextAreaElement} */ (field);
    return text.value !== text.defaultValue;
  });
}

const PAUSE_MS = 2_000;
const BUSY_PAUSE_MS = 5_000;
const MAX_BACKOFF_MS = 30_000;
/** Times that are left change without an event. */
const MAX_AGE_MS = 60_000;

/** @param {number} delayMs */
const sleep = (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs));

const untilVisible = () =>
  new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState !== 'visible') return;
      document.removeEventListener('visibilitychange', look);
      resolve(undefined);
    };
    document.addEventListener('visibilitychange', look);
    look();
  });

/** A redirect leads to the sign-in, a refusal to the page that states its reason. @param {Response} response */
async function leave({ type }) {
  const why =
    type === 'opaqueredirect'
      ? 'Your session has ended. Sign in in another tab: what you typed here is kept.'
      : 'This page can no longer be shown. Copy what you typed, then reload it to see why.';
  while (region && hasInput(region)) {
    showState(why, false);
    await sleep(500);
  }
  // The response to a form that was sent, such as that of the sign-out, has the way on: a reload would replace it.
  while (performance.now() - sentAtMs < SENT_FOR_MS) await sleep(500);
  location.reload();
}

/**
 * A refusal has a page of its own. A proxy before the console sends 408 and 429 for a while only.
 * @param {number} status
 */
const isRefusal = (status) => status >= 400 && status < 500 && status !== 408 && status !== 429;

const HIDDEN = 'hidden';

/**
 * Fetches while the page is visible; undefined if it was hidden meanwhile. It fails after a minute: a connection may be
 * lost without an error, as while the computer sleeps, and the page is not live then.
 * @param {string} url
 */
async function fetchVisibly(url) {
  const given = new AbortController();
  const look = () => document.visibilityState !== 'visible' && given.abort(HIDDEN);
  const timeout = setTimeout(() => given.abort('no response'), MAX_AGE_MS);
  document.addEventListener('visibilitychange', look);
  try {
    const headers = { 'X-Live': '1' };
    const response = await fetch(url, { headers, redirect: 'manual', signal: given.signal });
    if (response.type === 'opaqueredirect' || isRefusal(response.status)) {
      await leave(response);
      return undefined;
    }
    if (!response.ok) throw new Error(`status ${response.status}`);
    return await response.text();
  } catch (error) {
    if (given.signal.reason === HIDDEN) return undefined;
    throw error;
  } finally {
    clearTimeout(timeout);
    document.removeEventListener('visibilitychange', look);
  }
}

/** @param {string} text @param {boolean} isLive */
function showState(text, isLive) {
  document.getElementById('live-mark')?.toggleAttribute('hidden', !isLive);
  const state = document.getElementById('live-state');
  if (state) setText(state, text);
}

/** @param {HTMLElement} region */
async function isMoved(region) {
  const query = new URLSearchParams({ place: region.dataset.livePlace ?? '' });
  for (const topic of JSON.parse(region.dataset.live ?? '[]')) query.append('topic', topic);
  const news = await fetchVisibly(`/live?${query}`);
  return news !== undefined && JSON.parse(news).outcome === 'moved';
}

let fetchedMs = performance.now();
/** The server has another style and script than this page, such as after an upgrade. */
let isOutdated = false;

/** @param {HTMLElement} region */
async function fetchAgain(region) {
  const url = new URL(location.href);
  url.searchParams.delete('notice');
  const html = await fetchVisibly(`${url.pathname}${url.search}`);
  // What is not replaced stays moved.
  if (html === undefined || hasInput(region)) return;
  fetchedMs = performance.now();
  const fresh = new DOMParser().parseFromString(html, 'text/html').getElementById('live');
  if (!fresh) return location.reload();
  isOutdated = fresh.dataset.liveAssets !== region.dataset.liveAssets;
  enhance(fresh);
  replaceInPlace(region, fresh);
  region.dataset.live = fresh.dataset.live;
  region.dataset.livePlace = fresh.dataset.livePlace;
}

/** Fetches a region that moved. @param {HTMLElement} region @returns how long to rest, in milliseconds */
async function update(region) {
  const moved = await isMoved(region);
  const ageMs = performance.now() - fetchedMs;
  const isFresh = !moved && ageMs < MAX_AGE_MS;
  if (!isFresh && hasInput(region)) {
    showState('Updates wait while a form has input.', false);
    // The session may end while a person types.
    return PAUSE_MS;
  }
  if (!isFresh) await fetchAgain(region);
  showState(isOutdated ? 'Tallyhook was updated. Reload this page.' : '', true);
  if (isFresh) return 250;
  // A page that never rests is replaced less often.
  return ageMs < BUSY_PAUSE_MS ? BUSY_PAUSE_MS : PAUSE_MS;
}

/** @param {HTMLElement} region */
async function follow(region) {
  let failures = 0;
  let lostAt = '';
  showState('', true);
  for (;;) {
    await untilVisible();
    try {
      const restMs = await update(region);
      failures = 0;
      await sleep(restMs);
    } catch {
      if (failures === 0) lostAt = localClock.format(new Date());
      failures += 1;
      showState(`Not live since ${lostAt}. Trying again.`, false);
      await sleep(Math.min(500 * 2 ** failures, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2));
    }
  }
}

const REOPEN_EVERY_MS = 5_000;

/** Opens this page once it can be shown. A refusal or the sign-in is shown, too: waiting longer changes neither. */
async function openWhenBack() {
  for (;;) {
    await sleep(REOPEN_EVERY_MS * (0.5 + Math.random()));
    await untilVisible();
    try {
      const response = await fetch(location.href, { redirect: 'manual' });
      // Of a download, only the status matters here.
      await response.body?.cancel();
      if (response.ok || response.type === 'opaqueredirect' || isRefusal(response.status)) break;
    } catch {
      // The console does not respond either.
    }
  }
  location.reload();
}

/** @param {Element} root */
function enhance(root) {
  showTimes(root);
  addCopyButtons(root);
}

function forgetNotice() {
  const address = new URL(location.href);
  if (!address.searchParams.has('notice')) return;
  address.searchParams.delete('notice');
  history.replaceState(history.state, '', address);
}

forgetNotice();
document.documentElement.classList.add('has-script');
enhance(document.body);
setInterval(() => showTimes(document), RELATIVE_EVERY_MS);
// On a phone the sections are one line, which may begin before the present one.
document
  .querySelector('.sections [aria-current]')
  ?.scrollIntoView({ block: 'nearest', inline: 'center' });
addEventListener('beforeprint', () => {
  for (const details of document.querySelectorAll('details')) details.open = true;
});
const region = document.getElementById('live');
if (region) void follow(region);
if (document.getElementById('opens-itself')) void openWhenBack();
