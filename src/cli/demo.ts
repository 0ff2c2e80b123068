import { Command } from 'commander';
import { demonstrate } from '../demo/demonstrate.js';

/** `consent-ledger demo`. */
export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'record consents, verify their evidence, alter it, and erase a person, all in demo-output; takes a minute',
    )
    .argument('[count]', 'number of consents, from 200 (default: 1000)')
    .action((count: string | undefined) => demonstrate(count));
}
