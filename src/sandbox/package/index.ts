/** The package `@tallyhook/sandbox`: the sandbox in the process of a test, with its data in memory. */
export type { FaultsInput as SandboxFaults } from '../faults/settings.ts';
export type { SandboxLog } from '../log.ts';
export {
  type ControlMethod,
  type ResetSettings,
  type Sandbox,
  type SandboxSettings,
  startMemorySandbox as startSandbox,
} from './startMemorySandbox.ts';
