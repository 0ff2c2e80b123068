// The first script of the served page: it shows the answer of the look-up before the verifier is there.
import './jitless.js';
import { answerTextsIn } from '../i18n/answer-texts.js';
import { find } from './elements.js';
import { startLanguage, startStatusLine } from './language.js';
import { startLookup } from './lookup.js';

const language = startLanguage(answerTextsIn);
const status = startStatusLine('status', language);
// The verifier follows as a file of its own. Errors of files do not bubble.
window.addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLScriptElement) status.say(({ page }) => page.notLoaded);
  },
  true,
);
Object.assign(window, { answerPainted: startLookup(find('lookup-section', HTMLElement), language) });
