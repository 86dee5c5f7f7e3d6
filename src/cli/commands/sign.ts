import { Command, Option } from 'commander';
import { webhookSecretsOf } from '../../assembly/settings.ts';
import { SIGNATURE_HEADER } from '../../contract/signature.ts';
import { signBody } from '../../receiver/sign.ts';
import { printJson, readConfig, readInput } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption, secretOption } from '../options.ts';

interface SignOptions {
  readonly secret?: string;
  readonly encoding: BufferEncoding;
  readonly json: boolean;
}

export function signCommand(): Command {
  return new Command('sign')
    .argument('<file>', 'file with the bytes to sign, or - for standard input')
    .addOption(secretOption())
    .addOption(
      new Option('--encoding <encoding>', 'encoding of the signature')
        .choices(['hex', 'base64', 'base64url'])
        .default('hex'),
    )
    .addOption(jsonOption())
    .action(async (file: string, options: SignOptions) => {
      const secret = options.secret ?? firstSecret();
      const signature = signBody(await readInput(file), secret).toString(options.encoding);
      if (options.json) printJson({ header: SIGNATURE_HEADER, signature });
      else printLine(signature);
    });
}

/** The secret that a sender uses: the first, which is the newest in a rotation. */
export function firstSecret(): string {
  return webhookSecretsOf(readConfig())[0] ?? '';
}
