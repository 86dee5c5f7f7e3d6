/** Messages for Slack and compatible chats, such as Mattermost and Rocket.Chat. */
import type { Text } from './text.ts';

/**
 * The body of the request. `&`, `<` and `>` are escaped, so that an id from outside cannot become a link
 * or a mention. Names that notify everyone lose their `@`: some compatible chats read them unescaped.
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
