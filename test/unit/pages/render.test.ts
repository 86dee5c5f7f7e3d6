/** What every page passes before it is sent. */
import type { Response } from 'express';
import { expect, test } from 'vitest';
import { readAssets } from '../../../src/pages/serving/assets.ts';
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

test('letters of any script, marks of Arabic and Hebrew, and line breaks stay', () => {
  const body = 'مرحبا \u200F שלום\n\t🎉';
  expect(renderer.renderLive({ title: '', body }, { topics: [], place: '' })).toContain(body);
});
