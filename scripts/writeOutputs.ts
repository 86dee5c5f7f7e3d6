/** Writes docs/command-output.schema.json: what each command prints as JSON. */
import { z } from 'zod';
import { COMMAND_OUTPUTS } from '../src/cli/outputs.ts';

/** A definition for each command, by its name, such as `#/$defs/orders%20list`, beside those that they share. */
export function buildOutputSchema(): object {
  const commands = z.object(
    Object.fromEntries(Object.entries(COMMAND_OUTPUTS).map(([name, { schema }]) => [name, schema])),
  );
  const { $defs, properties } = z.toJSONSchema(commands, {
    io: 'output',
    override: ({ zodSchema, jsonSchema }) => {
      // Outputs may gain fields, so a reader must accept unknown ones.
      if (zodSchema._zod.def.type === 'object') delete jsonSchema.additionalProperties;
      delete jsonSchema.id;
    },
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Output of commands',
    description:
      'What each command prints to standard output with --json, statement with --format json and chain head always, by the name of the command. Of a command that prints lines, each line is one such value. A command that fails prints an error: command-error.schema.json.',
    $defs: { ...properties, ...$defs },
  };
}
