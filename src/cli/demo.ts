import { Command } from 'commander';
import { demonstrate } from '../demo/demonstrate.js';

/** `consent-ledger demo`. */
export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'records consents, verifies their evidence, alters it, and erases a person: in demo-output, in a minute',
    )
    .argument('[count]', 'number of consents, from 200 (default: 1000)')
    .action((count: string | undefined) => demonstrate(count));
}
