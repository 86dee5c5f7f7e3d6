/** Messages for Slack and compatible chats, such as Mattermost and Rocket.Chat. */
import { linkLine, subjectLine, type Text } from './text.ts';

/**
 * The body of the request. None of the text is markup: it has ids, reasons and names from outside, and
 * one of them must not become a link with another address behind it, a mention, or emphasis.
 *
 * - `mrkdwn: false` turns Slack's markup off. Compatible chats ignore it, so Markdown's links are broken.
 * - `&`, `<` and `>` are escaped, which is how Slack writes links and mentions.
 * - Slack shows the blocks, all of them plain text. The buttons and the lines with links are made here,
 *   from the settings and encoded ids.
 * - An address in a text is not recognized as one. Names that notify everyone lose their `@`: some chats read
 *   them unescaped.
 */
export function slackBody(text: Text): SlackBody {
  const { lines, links } = text;
  const texts = [subjectLine(text), ...lines].map(escapeSlack);
  return {
    text: [...texts, ...links.map(linkLine)].join('\n'),
    mrkdwn: false,
    blocks: blocksOf(text),
  };
}

interface SlackBody {
  /** What chats without blocks show, and what Slack shows in a notification. */
  readonly text: string;
  readonly mrkdwn: false;
  readonly blocks: readonly Block[];
}

interface PlainText {
  readonly type: 'plain_text';
  readonly text: string;
}

interface Button {
  readonly type: 'button';
  readonly text: PlainText;
  readonly url: string;
}

type Block =
  | { readonly type: 'header' | 'section'; readonly text: PlainText }
  | { readonly type: 'context'; readonly elements: readonly PlainText[] }
  | { readonly type: 'actions'; readonly elements: readonly Button[] };

/** Slack refuses a message with a longer text. */
const MAX_HEADER = 150;
const MAX_SECTION = 3_000;

function blocksOf({ installation, title, lines, links }: Text): readonly Block[] {
  const buttons = links.map(
    ({ label, url }): Button => ({
      type: 'button',
      text: plainText(label),
      url,
    }),
  );
  return [
    { type: 'header', text: plainText(escapedWithin(title, MAX_HEADER)) },
    ...sectionsOf(lines).map((text) => ({ type: 'section', text: plainText(text) }) as const),
    ...(buttons.length > 0 ? [{ type: 'actions', elements: buttons } as const] : []),
    { type: 'context', elements: [plainText(escapeSlack(installation))] },
  ];
}

function sectionsOf(lines: readonly string[]): readonly string[] {
  const sections: string[] = [];
  for (const line of lines) {
    const text = escapedWithin(line, MAX_SECTION);
    const last = sections.at(-1);
    const joined = `${last ?? ''}\n${text}`;
    if (last !== undefined && joined.length <= MAX_SECTION) sections[sections.length - 1] = joined;
    else sections.push(text);
  }
  return sections.map((text) => text.trim()).filter((text) => text !== '');
}

/** Escaped, and cut so far that no number of escapes exceeds the limit. */
function escapedWithin(text: string, maxLength: number): string {
  const escaped = escapeSlack(text);
  if (escaped.length <= maxLength) return escaped;
  const longestEscape = '&amp;'.length;
  return `${escapeSlack(text.slice(0, Math.floor((maxLength - 1) / longestEscape)))}…`;
}

function plainText(text: string): PlainText {
  return { type: 'plain_text', text };
}

function escapeSlack(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('](', '] (')
    .replaceAll('://', ': //')
    .replace(/@+(?=(all|channel|everyone|here)\b)/gi, '');
}
