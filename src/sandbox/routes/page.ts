/** The layout of the sandbox's pages: plain HTML without scripts. */
import type { Response } from 'express';

/** @param content HTML in which text from outside is escaped with escapeHtml */
export function sendPage(response: Response, content: string, status = 200): void {
  response
    .status(status)
    .set({
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      // With `no-referrer`, browsers send the forms with `Origin: null`, which http/guard.ts rejects.
      'Referrer-Policy': 'same-origin',
    })
    .type('html')
    .send(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Payment sandbox</title><style>${STYLE}</style></head>
<body><header>Payment sandbox</header>
<main>${content}</main>
<footer>No real money moves here.</footer>
</body></html>
`);
}

const STYLE = `
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1f2b; background: #eef1f5;
  margin: 3em auto; max-width: 30em; padding: 0 1em; }
main { background: #fff; border: 1px solid #d5dae2; border-radius: 8px; padding: 1.5em 2em; }
header, footer { color: #5b6472; font-size: .875em; padding: .75em 0; }
h1 { font-size: 2em; line-height: 1.2; margin: 0 0 .5em; }
fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .75em 1em; }
legend { font-weight: 600; padding: 1em 0 .5em; }
label { flex: 1 1 45%; font-size: .875em; color: #5b6472; }
label.wide { flex-basis: 100%; }
input { display: block; width: 100%; font: inherit; font-size: 1rem; color: #1a1f2b;
  padding: .4em .6em; border: 1px solid #aab3c0; border-radius: 4px; }
button { font: inherit; padding: .5em 1.25em; margin: 1em .5em 0 0; cursor: pointer;
  color: #1a1f2b; background: #fff; border: 1px solid #aab3c0; border-radius: 4px; }
button:first-of-type { color: #fff; background: #1f5fbf; border-color: #1f5fbf; }
.problem { color: #9b1c1c; background: #fdecec; border-radius: 4px; padding: .5em .75em; }`;

/** A field of a form. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  /** The value of the attribute `autocomplete`. */
  readonly fill: string;
  /** It takes the whole width. */
  readonly isWide?: boolean;
  /** Its value is not shown again. */
  readonly isSecret?: boolean;
}

/** Fields that belong together. */
export interface FormPart {
  readonly title: string;
  readonly fields: readonly FormField[];
}

/** @param values values that were entered before, by name */
export function formOf(
  parts: readonly FormPart[],
  action: string,
  values: Readonly<Record<string, string>> = {},
): string {
  const input = ({ name, label, fill, isWide, isSecret }: FormField) => {
    const value = isSecret ? '' : escapeHtml(values[name] ?? '');
    return `<label${isWide ? ' class="wide"' : ''}>${label}<input name="${name}" value="${value}" autocomplete="${fill}" required></label>`;
  };
  const sets = parts.map(
    ({ title, fields }) =>
      `<fieldset><legend>${title}</legend>${fields.map(input).join('')}</fieldset>`,
  );
  return `<form method="post">${sets.join('')}<button>${action}</button></form>`;
}

/** Escapes text from outside for a page. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
