/**
 * Where channels send, for people. An address may hold a token in its path, and a mailbox names a person,
 * so that only the receiving host is shown in full.
 */
import type { ChannelSettings } from '../../config/alertSettings.ts';
import { maskedUrl } from '../../config/maskedUrl.ts';
import { type ChannelTarget, channelSetting } from '../domain/channel.ts';
import { CHANNELS, type ChannelName } from '../domain/message.ts';

export function channelNamesOf(settings: ChannelSettings): readonly ChannelName[] {
  return CHANNELS.filter((name) => settings[name] !== undefined);
}

/** The configured channels. */
export function targetsOf(settings: ChannelSettings): readonly ChannelTarget[] {
  return CHANNELS.flatMap((channel): readonly ChannelTarget[] => {
    const sendsTo = addressOf(channel, settings);
    if (sendsTo === undefined) return [];
    const severity = channel === 'shop' ? undefined : settings[channel]?.severity;
    return [{ channel, sendsTo, severity, setting: channelSetting(channel) }];
  });
}

function addressOf(channel: ChannelName, settings: ChannelSettings): string | undefined {
  switch (channel) {
    case 'log':
      return settings.log && 'the log of the role alerts';
    case 'mail': {
      const { mail } = settings;
      return mail && `${mail.to.map(maskedMailbox).join(', ')} through ${mail.smtp.host}`;
    }
    case 'webhook':
    case 'slack':
    case 'shop': {
      const url = settings[channel]?.url;
      return url === undefined ? undefined : maskedUrl(url);
    }
  }
}

/** `ops@shop.example` becomes `o…@shop.example`. */
function maskedMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, 1)}…${address.slice(at)}`;
}
