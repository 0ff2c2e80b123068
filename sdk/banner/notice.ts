import { labelOf } from './controls.js';
import { NOTICE_VERSION } from './layout-version.js';
import type { BannerView, Notice } from './view.js';

/**
 * The notice that a signal of the browser was processed as an opt-out (CCPA regulations, §7025(c)(6)).
 * @param labels the labels of the service
 * @param isConflict whether the signal ended what an earlier choice permitted (§7025(c)(3))
 */
export function optOutNotice(labels: BannerView['labels'], isConflict: boolean): Notice {
  const { text, language } = labelOf({ labels }, 'opt_out');
  const conflict = isConflict ? labels.opt_out_conflict : undefined;
  return { text: conflict === undefined ? text : `${text}. ${conflict.text}`, language, version: NOTICE_VERSION };
}
