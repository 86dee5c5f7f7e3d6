/** Messages for Slack and compatible chats, such as Mattermost and Rocket.Chat. */
import type { Text } from './text.ts';

/**
 * The body of the request. None of the text is markup: it has ids, reasons and names from outside, and
 * one of them must not become a link with another address behind it, a mention, or emphasis.
 *
 * - `mrkdwn: false` turns Slack's markup off. Compatible chats ignore it, so Markdown's links are broken.
 * - `&`, `<` and `>` are escaped, which is how Slack writes links and mentions.
 * - An address is not recognized as one. Names that notify everyone lose their `@`: some chats read
 *   them unescaped.
 */
export function slackBody({ title, lines }: Text): {
  readonly text: string;
  readonly mrkdwn: false;
} {
  return { text: [title, ...lines].map(escapeSlack).join('\n'), mrkdwn: false };
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
