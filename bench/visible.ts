import { setTimeout as sleep } from 'node:timers/promises';
import { StatusResponse } from '../schemas/api/status.js';
import { postSigned } from '../test/support/signed-requests.js';
import { cookieConsent } from './consents.js';

const PROBE_EVERY_MS = 100;
const POLL_MS = 20;
/** A consent that is not visible by then counts with this time. */
const GIVE_UP_MS = 30_000;

/** A site with the keys that a probe needs. */
export interface ProbedSite {
  readonly writeKey: string;
  readonly readKey: string;
  readonly versions: { readonly cookieEn: string };
}

/** Times from a 202 to the consent in the status of its visitor. */
export interface VisibleTimes {
  readonly probes: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  /** Probes that were not accepted, or got no answer. */
  readonly refused: number;
}

/**
 * Records single consents of the sites in turn, and asks for the status of each visitor until it
 * shows the consent. Runs beside a load for some seconds.
 */
export async function probeVisibility(
  port: number,
  sites: readonly ProbedSite[],
  seconds: number,
): Promise<VisibleTimes> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const times: number[] = [];
  let refused = 0;
  const probe = async (site: ProbedSite): Promise<void> => {
    const consent = cookieConsent(site.versions.cookieEn);
    const response = await postSigned(baseUrl, site.writeKey, '/tool/v1/consents', consent);
    await response.arrayBuffer();
    if (response.status !== 202) {
      refused += 1;
      return;
    }
    const accepted = performance.now();
    const url = `${baseUrl}/tool/v1/consents/status?visitor_id=${String(consent.visitor_id)}`;
    let isVisible = false;
    while (!isVisible && performance.now() - accepted < GIVE_UP_MS) {
      await sleep(POLL_MS);
      const status = await fetch(url, { headers: { 'x-api-key': site.readKey } });
      const body = StatusResponse.safeParse(await status.json());
      isVisible = body.success && body.data.data.consents.length > 0;
    }
    times.push(performance.now() - accepted);
  };
  const probes: Promise<void>[] = [];
  const started = performance.now();
  for (let place = 0; performance.now() - started < seconds * 1000; place += 1) {
    const site = sites[place % sites.length];
    if (site !== undefined) {
      probes.push(
        probe(site).catch(() => {
          refused += 1;
        }),
      );
    }
    await sleep(PROBE_EVERY_MS);
  }
  await Promise.all(probes);
  const sorted = times.sort((a, b) => a - b);
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return { probes: sorted.length, p50: at(0.5), p99: at(0.99), most: at(1), refused };
}
