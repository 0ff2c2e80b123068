import type { InspectedConsent } from './inspect/facts.js';
import { Panel } from './inspect/panel.js';

/**
 * Opens a panel that shows a developer which element of the page waits for what and why, what was sent and answered, and
 * which configuration is in use. Nothing loads this file but the developer. It records nothing.
 * @param consent the consent of a page that imports the SDK as a module; by default, that of the script
 */
export function inspect(consent: InspectedConsent | undefined = window.consentLedger?.consent): void {
  new Panel(consent, new URL(import.meta.url).origin).open();
}

inspect();
