import { Command, InvalidArgumentError } from 'commander';
import { pause } from '../platform/background/waiting.js';
import { refuseUnlessLoopback } from '../platform/net/reach.js';
import { newWebhookSecret } from '../tenancy/webhooks/webhooks.js';
import type { CliContext } from './command/context.js';
import { CommandError, EXIT, EXIT_CODES_HELP } from './command/exit-codes.js';
import { signalled } from './command/signalled.js';
import { forwardTestEvents } from './forward-test-events.js';

const DEFAULT_SERVICE = 'http://127.0.0.1:8080';

const HELP = `
Environment:
  CONSENT_LEDGER_KEY   a test key (svc_test_...) with the restriction secret; required
  CONSENT_LEDGER_URL   address of the service, unless --service is given

The receiver gets the webhooks of what test keys record and erase from now on, each once, signed with a
secret that the command makes and prints.
`;

/** `listen`: forwards the webhooks of test records to a receiver on this machine. It needs no database. */
export function listenCommand({ env, stdout }: CliContext): Command {
  return new Command('listen')
    .description('send the webhooks of test records to a receiver on this machine, until Ctrl-C')
    .requiredOption('--forward-to <url>', 'the receiver, such as http://localhost:3000/hook', webAddress)
    .option(
      '--service <url>',
      `address of the service (default: CONSENT_LEDGER_URL, or ${DEFAULT_SERVICE})`,
      webAddress,
    )
    .addHelpText('after', HELP + EXIT_CODES_HELP)
    .action(async ({ forwardTo, service }: { readonly forwardTo: URL; readonly service?: URL }) => {
      const { CONSENT_LEDGER_KEY: apiKey = '', CONSENT_LEDGER_URL: address = DEFAULT_SERVICE } = env;
      // A live key must not leave the machine for an address that was mistyped, either.
      if (!apiKey.startsWith('svc_test_'))
        throw new CommandError(
          'Set CONSENT_LEDGER_KEY to a test key (svc_test_...) with the restriction secret.',
          EXIT.usage,
        );
      await refuseUnlessLoopback(forwardTo).catch(() => {
        throw new CommandError(
          `--forward-to must lead to this machine, as http://localhost:3000/hook does, and ${forwardTo.host} does not. For a public address, create a webhook of the site.`,
        );
      });
      const stop = new AbortController();
      void signalled().then(() => stop.abort());
      await forwardTestEvents({
        service: service ?? serviceIn(address),
        apiKey,
        forwardTo,
        secret: newWebhookSecret(),
        signal: stop.signal,
        write: (line) => stdout.write(`${line}\n`),
        clock: Date.now,
        pause,
      });
      stdout.write('Stopped.\n');
    });
}

function serviceIn(address: string): URL {
  try {
    return webAddress(address);
  } catch {
    throw new CommandError(
      `CONSENT_LEDGER_URL must be the address of the service, such as ${DEFAULT_SERVICE}.`,
      EXIT.usage,
    );
  }
}

/** @throws InvalidArgumentError */
function webAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It must be a URL that begins with http:// or https://.');
  return url;
}
