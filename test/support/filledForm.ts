/**
 * A form of a page, filled in without opening the page: a browser parses the HTML, applies the rules of HTML to
 * the form (which fields it has, what is sent, what must not be empty), and renders nothing.
 */
import type { Page } from 'playwright-core';
import type { PageViewer, ShownPage } from './pages.ts';

/** What is filled in, by the names of fields; `true` checks a box. */
export type Fields = Readonly<Record<string, string | true>>;

interface FormChoice {
  /** Where the form is sent; undefined: it is found by its button. */
  readonly action?: string | undefined;
  /** The text of the button; undefined: the first of the form. */
  readonly button?: string | undefined;
  /** Selectors of boxes to check. */
  readonly check?: readonly string[] | undefined;
  readonly fields?: Fields | undefined;
  /** The name of a field for a file. */
  readonly file?: string | undefined;
}

/** The file that a form is sent with. */
export const PROOF = {
  name: 'proof.pdf',
  mimeType: 'application/pdf',
  text: '%PDF-1.7 proof of delivery',
} as const;

interface FilledForm {
  readonly action: string;
  readonly method: 'get' | 'post';
  readonly enctype: string;
  /** A file has its name instead of a value. */
  readonly content: readonly (readonly [string, string | { readonly file: string }])[];
}

/** Runs in the browser. */
const FILL = `({ html, choice, proof }) => {
  const page = new DOMParser().parseFromString(html, 'text/html');
  const { action, check = [], fields = {}, file } = choice;
  const isWanted = (form) =>
    action === undefined || (form?.method === 'post' && form.getAttribute('action') === action);
  const button = [...page.querySelectorAll('button[type="submit"]')].find(
    (one) =>
      isWanted(one.form) && (choice.button === undefined || one.textContent.trim() === choice.button),
  );
  if (!button?.form || button.disabled) throw new Error('no form: ' + JSON.stringify(choice));
  const form = button.form;
  for (const selector of check) {
    const box = page.querySelector(selector);
    if (box?.form !== form || box.disabled) throw new Error('no box in the form: ' + selector);
    box.checked = true;
  }
  const fieldOf = (name) => {
    const [field, ...others] = [...form.elements].filter((one) => one.name === name);
    if (!field || others.length > 0 || field.disabled || field.readOnly || field.type === 'hidden') {
      throw new Error('not one field to fill in: ' + name);
    }
    return field;
  };
  for (const [name, value] of Object.entries(fields)) {
    const field = fieldOf(name);
    if (value === true) field.checked = true;
    else field.value = value;
    if (value !== true && field.value !== value) throw new Error(name + ' cannot be ' + value);
  }
  if (file !== undefined) {
    const transfer = new DataTransfer();
    transfer.items.add(new File([proof.text], proof.name, { type: proof.mimeType }));
    fieldOf(file).files = transfer.files;
  }
  const invalid = [...form.elements].find((field) => !field.checkValidity());
  if (invalid) throw new Error(invalid.name + ' keeps the form from being sent');
  const content = [...new FormData(form, button)].map(([name, value]) => [
    name,
    typeof value === 'string' ? value : { file: value.name },
  ]);
  const to = button.getAttribute('formaction') ?? form.getAttribute('action');
  return { action: to, method: form.method, enctype: form.enctype, content };
}`;

/** Sends a form that a viewer was shown, as filled in, and follows the redirect after it. */
export async function sendForm(
  parser: Page,
  viewer: PageViewer,
  { html }: ShownPage,
  choice: FormChoice,
): Promise<ShownPage & { readonly path: string }> {
  const argument = JSON.stringify({ html, choice, proof: PROOF });
  const filled = (await parser.evaluate(`(${FILL})(${argument})`)) as FilledForm;
  const sent = await send(viewer, filled);
  const path = sent.location ?? filled.action;
  return { ...(sent.location === null ? sent : await viewer.get(path)), path };
}

function send(viewer: PageViewer, form: FilledForm): Promise<ShownPage> {
  const { action, content } = form;
  if (form.method === 'post' && form.enctype === 'multipart/form-data') {
    const parts = new FormData();
    for (const [name, value] of content) {
      if (typeof value === 'string') parts.append(name, value);
      else {
        const text = value.file === PROOF.name ? PROOF.text : '';
        parts.append(name, new Blob([text], { type: PROOF.mimeType }), value.file);
      }
    }
    return viewer.postFiles(action, parts);
  }
  const fields = content.map(([name, value]): [string, string] => {
    if (typeof value !== 'string') throw new Error(`${name} is a file in a form without files`);
    return [name, value];
  });
  if (form.method === 'get') return viewer.get(`${action}?${new URLSearchParams(fields)}`);
  const names = [...new Set(fields.map(([name]) => name))];
  const valuesOf = (wanted: string) =>
    fields.filter(([name]) => name === wanted).map(([, value]) => value);
  return viewer.postRaw(action, Object.fromEntries(names.map((name) => [name, valuesOf(name)])));
}

/** Runs in the browser. */
const TEXTS = `(html) => {
  const page = new DOMParser().parseFromString(html, 'text/html');
  return {
    text: page.body.textContent,
    notices: [...page.querySelectorAll('[role="status"]')].map(({ textContent }) => textContent),
  };
}`;

/** The text of a page, and of its notices. */
export async function textsOf(
  parser: Page,
  { html }: ShownPage,
): Promise<{ readonly text: string; readonly notices: readonly string[] }> {
  return (await parser.evaluate(`(${TEXTS})(${JSON.stringify(html)})`)) as {
    readonly text: string;
    readonly notices: readonly string[];
  };
}
