import type { GppSettings } from '../../../../schemas/iab/iab-settings.js';

/**
 * The settings without categories that the site no longer has: the form shows no box by which one could be removed.
 * @param keys keys of the categories that visitors can refuse
 */
export function gppOf(gpp: GppSettings, keys: readonly string[]): GppSettings {
  return { ...gpp, opt_out: gpp.opt_out.filter((key) => keys.includes(key)) };
}
