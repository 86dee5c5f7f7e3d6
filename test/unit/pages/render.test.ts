/** What every page passes before it is sent. */
import type { Response } from 'express';
import { h } from 'preact';
import { expect, test } from 'vitest';
import { Field, Hidden, Select, TextArea } from '../../../src/pages/components/forms.tsx';
import { readAssets } from '../../../src/pages/serving/assets.ts';
import { problemView } from '../../../src/pages/serving/problem.tsx';
import { createRenderer } from '../../../src/pages/serving/render.tsx';

const renderer = createRenderer({ installation: 'Tallyhook', assets: readAssets(), sections: [] });
const response = {
  req: { path: '/', originalUrl: '/', header: () => undefined },
} as unknown as Response;

test.each([
  ['an override of the direction', '\u202E'],
  ['an isolate', '\u2067'],
  ['an escape', '\u001B'],
  ['a control of the C1 set', '\u009B'],
])('%s in a text from outside changes nothing beside it', (_name, control) => {
  const view = { title: `Order ${control}`, body: `declined ${control}12.30 EUR` };
  const live = renderer.renderLive(view, { topics: [], place: '' });
  const page = renderer.render(view, { response });
  for (const html of [live, page]) {
    expect(html).toContain('declined \uFFFD12.30 EUR');
    expect(html).not.toContain(control);
  }
});

test('a field has the value that is stored, which its form sends back', () => {
  const stored = '\nthe \u202Ecustomer\u202C wrote \u001B"no" <1>';
  const body = [
    h(Hidden, { name: 'hidden', value: stored }),
    h(Field, { name: 'field', label: 'Field', value: stored }),
    h(TextArea, { name: 'area', label: 'Area', value: stored }),
    h(Select, { name: 'select', label: 'Select', value: stored, options: [stored] }),
  ];
  const html = renderer.renderLive({ title: '', body }, { topics: [], place: '' });
  const read = (text = '') =>
    text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
  const values = Array.from(html.matchAll(/ value="([^"]*)"/g), ([, value]) => read(value));
  expect(values).toEqual([stored, stored, stored]);
  // A browser leaves out the first line break of the element.
  expect(read(/<textarea[^>]*>\n([^<]*)</.exec(html)?.[1])).toBe(stored);
  expect(html).toMatch(/>\nthe \uFFFDcustomer\uFFFD wrote \uFFFD/);
});

test('letters of any script, marks of Arabic and Hebrew, and line breaks stay', () => {
  const body = 'مرحبا \u200F שלום\n\t🎉';
  expect(renderer.renderLive({ title: '', body }, { topics: [], place: '' })).toContain(body);
});

test('a command in a message is shown as one, and a single backtick as it is sent', () => {
  const shown = (message: string) =>
    renderer.renderLive(problemView({ outcome: 'conflict', message }), { topics: [], place: '' });
  expect(shown('Run `npx tallyhook doctor`, and <wait>.')).toContain(
    'Run <code>npx tallyhook doctor</code>, and &lt;wait>.',
  );
  expect(shown('No order is named a`b.')).toContain('a`b.');
});
