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
createRoot(root).render(<App language={language} messages={await CATALOGUES[language]()} />);
