// The screen of an app by React Native, which draws its own question from the texts of the site.
import { asyncStorage, Consent } from '@consent-ledger/mobile';
import { ConsentSourceProvider, Gate, useConsent } from '@consent-ledger/react/headless';
import AsyncStorage from '@react-native-async-storage/async-storage';
import { getRandomBytes } from 'expo-crypto';
import { useState } from 'react';
import { AppState, Button, Switch, Text, View } from 'react-native';
import { API_KEY, SERVICE } from './service.js';

const makeConsent = () =>
  new Consent({
    baseUrl: SERVICE,
    apiKey: API_KEY,
    origin: 'app://com.example.shop',
    storage: asyncStorage(AsyncStorage),
    randomBytes: getRandomBytes,
    watch: (resume) => {
      const subscription = AppState.addEventListener('change', (state) => state === 'active' && resume());
      return () => subscription.remove();
    },
  });

export default function App() {
  return (
    <ConsentSourceProvider consent={makeConsent}>
      <Question />
      <Gate category="analytics" fallback={<Text>Statistics are off.</Text>}>
        <Text>Statistics are on.</Text>
      </Gate>
    </ConsentSourceProvider>
  );
}

function Question() {
  const { configuration, layer, texts, categories, acceptAll, rejectAll, openSettings, withdraw } = useConsent();
  // No texts yet: the app was never online.
  if (configuration === null) return null;
  if (layer === null)
    return (
      <View>
        <Button title={texts.settings} onPress={openSettings} />
        <Button title="Withdraw" onPress={() => withdraw()} />
      </View>
    );
  return (
    <View accessibilityViewIsModal>
      <Text accessibilityRole="header">{texts.title}</Text>
      <Text>{texts.text}</Text>
      <Button title={texts.accept} onPress={() => acceptAll()} />
      <Button title={texts.reject} onPress={() => rejectAll()} />
      {layer === 'first' ? <Button title={texts.settings} onPress={openSettings} /> : <Settings offered={categories} />}
    </View>
  );
}

function Settings({ offered }) {
  const { texts, choice, choose } = useConsent();
  // Nothing is ticked beforehand, except what the person permitted before.
  const [ticked, setTicked] = useState(choice?.categories ?? {});
  return (
    <View>
      {offered.map(({ key, required, title, purpose }) => (
        <View key={key}>
          <Text>{title}</Text>
          <Text>{purpose}</Text>
          <Switch
            accessibilityLabel={title}
            disabled={required}
            value={required || ticked[key] === true}
            onValueChange={(value) => setTicked({ ...ticked, [key]: value })}
          />
        </View>
      ))}
      <Button title={texts.save} onPress={() => choose(ticked)} />
    </View>
  );
}
