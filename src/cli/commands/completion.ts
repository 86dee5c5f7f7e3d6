import { Argument, Command } from 'commander';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { completionNodes } from '../completion/model.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { terminal } from '../invocation.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
type Shell = keyof typeof SHELLS;

/** @param loadAll every command, which the script names */
export function completionCommand(loadAll: () => Promise<readonly Command[]>): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', NOTES)
    .action(async (shell: Shell) => {
      terminal().stdout.write(SHELLS[shell](completionNodes(await loadAll())));
    });
}

const NOTES = `
The script completes commands, options and their choices. It starts nothing: write it again after an upgrade.

Examples:

  tallyhook completion bash > ~/.local/share/bash-completion/completions/tallyhook
  tallyhook completion zsh > "\${fpath[1]}/_tallyhook"
  tallyhook completion fish > ~/.config/fish/completions/tallyhook.fish

Exit code: 0.`;
