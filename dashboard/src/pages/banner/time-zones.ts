import { knowsTimeZone } from '../../../../schemas/text/time-zone.js';

/** The zone of the browser, or undefined if it does not name one of the IANA database. */
export function zoneOfBrowser(): string | undefined {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return knowsTimeZone(timeZone) ? timeZone : undefined;
}

/** The zones to choose from: those that the browser knows, and the one that the draft has. */
export function zoneOptions(chosen: string | undefined, none: string) {
  const zones = new Set(Intl.supportedValuesOf('timeZone'));
  if (chosen !== undefined) zones.add(chosen);
  return [{ value: '', label: none }, ...[...zones].sort().map((value) => ({ value, label: value }))];
}
