import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/controls.css';
import './styles/content.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { CATALOGUES } from './i18n/languages.js';
import { applyTheme, preferredLanguage, preferredTheme } from './preferences.js';

applyTheme(preferredTheme());
const language = preferredLanguage();
document.documentElement.lang = language;
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
try {
  createRoot(root).render(<App language={language} messages={await CATALOGUES[language]()} />);
} catch {
  // No texts are there, so this one stands here in both languages.
  root.setAttribute('role', 'alert');
  root.textContent =
    'The dashboard could not be loaded. Load the page again. · Pano yüklenemedi. Sayfayı yeniden yükleyin.';
}
