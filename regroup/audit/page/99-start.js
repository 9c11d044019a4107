// The beginning: read, fill, listen.

async function start() {
  try {
    takeData(await readData());
  } catch (problem) {
    byId('waiting').textContent = `The data of this page cannot be read: ${problem.message}`;
    return;
  }
  document.title = `${readable(data.title, 80)}: labels to review`;
  byId('title').textContent = readable(data.title, 80);
  try {
    tileSize = Math.min(320, Math.max(64, Number(localStorage.getItem('regroup:tile')) || tileSize));
  } catch { /* The default, then. */
  }
  findLists();
  readAddress();
  document.body.classList.toggle('served', data.served === true);
  startReview();
  byId('waiting').hidden = true;
  if (data.served)
    await startServed();
  else
    startKeeping();
  fitBelief();
  beliefListeners.push(showYield, repaintTiles, () => {
    if (!byId('review').hidden) showDetail();
  });
  decisionListeners.push((changes, source) => {
    fitSoon();
    if (byId('review').hidden) return tab === 'classes' ? showClasses() : undefined;
    repaintTiles();
    showBar();
    // A user's action moves the cursor, which shows the details.
    if (source !== 'user') showDetail();
  });
  openDetail(!isNarrow());
  startGrid();
  startPointer();
  showYield();
  showTab();
  document.addEventListener('keydown', onKey);
  addEventListener('popstate', () => {
    readAddress();
    showTab();
  });
  if (!byId('review').hidden) byId('grid').focus({preventScroll: true});
  document.body.classList.add('ready');
}

start();
