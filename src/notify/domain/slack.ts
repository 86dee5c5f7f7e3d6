/** The form of channels that speak Slack's language: Slack, Mattermost, Rocket.Chat. */
import type { Text } from './text.ts';

/**
 * The body to post. `&`, `<` and `>` are escaped, so that no id from outside can be a link or a
 * mention; names that call everybody lose their `@`, which only Slack's kin would otherwise read.
 */
export function slackBody({ title, lines }: Text): { readonly text: string } {
  return { text: `*${escapeSlack(title)}*\n${lines.map(escapeSlack).join('\n')}` };
}

function escapeSlack(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/@+(?=(all|channel|everyone|here)\b)/gi, '');
}
