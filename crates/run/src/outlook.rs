//! What would happen now, told without a build.
//!
//! Verdicts follow from the store, the class files as they were last compiled,
//! and the requests that the last builds made.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use fewest_build::TaskRequest;
use fewest_model::{ClassName, Element, ElementKind, TestId};
use fewest_order::{Shard, Signature};
use fewest_select::verdict::Verdict;
use fewest_select::{Entity, Technique};
use fewest_snapshot::Snapshot;
use fewest_store::{Event, KnownRecord, Ledger, ReadError, Reader};
use roaring::RoaringBitmap;
use thiserror::Error;

use crate::arrange::{arrange, places_of_shard};
use crate::ask::{reasons, recent_runs, take_snapshot, variables};
use crate::class_changes::{ClassChanges, class_changes};
use crate::coarsening::Coarsening;
use crate::environment::environment;
use crate::last::LastTask;
use crate::order_settings::{OrderBy, OrderSettings};
use crate::plan::Parts;
use crate::project::Project;
use crate::settings::{ProjectFile, ProjectFileError};
use crate::signatures::{Signatures, Signing};
use crate::since::{ChangeSet, ChangeSetError};
use crate::test_methods::TestClasses;
use crate::tests_of_task::{ChangedUses, Judged, Rules, judge_tests};

#[derive(Debug, Error)]
pub enum OutlookError {
    #[error(transparent)]
    ProjectFile(#[from] ProjectFileError),
    #[error(transparent)]
    Store(#[from] ReadError),
    #[error(transparent)]
    Since(#[from] ChangeSetError),
}

/// A project and what is known of its tests.
pub struct Outlook {
    project: Project,
    file: ProjectFile,
    technique: Technique,
    entity: Entity,
    since: Option<ChangeSet>,
    reader: Reader,
    last: Vec<LastTask>,
}

/// A test, what is known of it, and what would happen with it.
#[derive(Clone, Debug)]
pub struct Forecast {
    pub test: TestId,
    pub prediction: Prediction,
    /// The record that the verdict goes by: the one that still stands, or the
    /// newest one.
    pub record: Option<RecordSummary>,
    /// How it ended, newest first.
    pub history: Vec<Event>,
    /// Why its last run made no record.
    pub doubts: Vec<String>,
    /// Its methods, where they are judged one by one though the class is what
    /// is left out or run: tests of it gave up on an assumption.
    pub methods: Option<Parts>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prediction {
    Run {
        reasons: Vec<String>,
    },
    Skip,
    /// The class path no longer has the test's class.
    Gone,
    /// No request of a build is kept that the test took part in.
    Unknown,
}

/// A record, as far as people ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSummary {
    /// Milliseconds since 1970.
    pub made_at: i64,
    pub millis: u32,
    pub revision: Option<String>,
    /// How many things the test used.
    pub uses: u64,
}

/// A test that would run in a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardTest {
    pub test: TestId,
    /// How long it took when it last ran.
    pub millis: Option<u32>,
}

/// A test class, whether it would run, and what its place in an order goes by.
#[derive(Clone, Debug)]
pub struct Standing {
    pub test: TestId,
    pub runs: bool,
    /// `None` for a test that does not run or has no record.
    pub uses: Option<ChangedUses>,
    pub signature: Signature,
}

impl Outlook {
    /// Opens a project's store. The technique is the project file's or the
    /// default where none is given.
    pub fn open(
        project: Project,
        technique: Option<Technique>,
        entity: Option<Entity>,
    ) -> Result<Self, OutlookError> {
        let file = ProjectFile::load(&project.root)?;
        let technique = technique.or(file.technique).unwrap_or_default();
        let entity = entity.or(file.entity).unwrap_or_default();
        Ok(Self {
            reader: Reader::open(&project.folder())?,
            technique,
            entity: if technique.is_static() {
                Entity::Class
            } else {
                entity
            },
            since: None,
            last: LastTask::all(&project),
            file,
            project,
        })
    }

    /// The same with other changes of methods that count as a change of the
    /// class, where some are given.
    #[must_use]
    pub fn coarsened(mut self, coarsen: Option<Coarsening>) -> Self {
        if let Some(coarsen) = coarsen {
            self.file.coarsen = coarsen;
        }
        self
    }

    /// The same by what changed since a revision, where one is given.
    pub fn since(mut self, revision: Option<&str>) -> Result<Self, OutlookError> {
        if let Some(revision) = revision {
            let root = &self.project.root;
            let changes = ChangeSet::since(revision, self.technique, root, &self.file)?;
            self.since = Some(changes);
        }
        Ok(self)
    }

    pub fn technique(&self) -> Technique {
        self.technique
    }

    /// The last request of each task, with the tests it was the last one for.
    pub fn tasks(&self) -> impl Iterator<Item = (&TaskRequest, &BTreeSet<ClassName>)> {
        self.last.iter().map(|last| (&last.request, &last.tests))
    }

    pub fn entity(&self) -> Entity {
        self.entity
    }

    /// The test classes that the store knows, by id.
    pub fn tests(&self) -> Result<Vec<TestId>, ReadError> {
        let tests = self.reader.test_ids()?.into_iter();
        let classes: BTreeSet<TestId> = tests
            .map(|test| TestId::of_class(test.module, test.class))
            .collect();
        Ok(classes.into_iter().collect())
    }

    /// What would happen with some test classes, or with each of their methods
    /// where those are told apart, in the order of their ids.
    pub fn forecasts(&self, wanted: &BTreeSet<TestId>) -> Result<Vec<Forecast>, ReadError> {
        let mut forecasts = Vec::new();
        let mut rest = wanted.clone();
        for last in &self.last {
            let module = last.request.module.as_str();
            let id = |class: &ClassName| TestId::of_class(module, class.clone());
            let asked: BTreeSet<TestId> = last
                .tests
                .iter()
                .map(id)
                .filter(|test| rest.remove(test))
                .collect();
            if !asked.is_empty() {
                // A verdict may depend on those of other tests, so all are given.
                let request = TaskRequest {
                    test_classes: Some(last.tests.iter().cloned().collect()),
                    ..last.request.clone()
                };
                let of_task = self.of_task(&request)?.into_iter();
                forecasts
                    .extend(of_task.filter(|forecast| asked.contains(&id(&forecast.test.class))));
            }
        }
        if !rest.is_empty() {
            let ledger = self.reader.ledger(None)?;
            for test in rest {
                forecasts.push(forecast(&ledger, test, Prediction::Unknown, 0)?);
            }
        }
        forecasts.sort_by(|a, b| a.test.cmp(&b.test));
        Ok(forecasts)
    }

    /// The tests that would run now, by the shard that they would run in.
    pub fn shards(&self, count: NonZeroU32) -> Result<Vec<Vec<ShardTest>>, ReadError> {
        let mut shards: Vec<Vec<ShardTest>> = (0..count.get()).map(|_| Vec::new()).collect();
        for last in &self.last {
            let request = last.request_of_tests();
            let (judged, _) = self.judge_present(&request, false)?;
            for (index, shard) in (1..).zip(&mut shards) {
                let Some(number) = NonZeroU32::new(index).and_then(|i| Shard::new(i, count)) else {
                    continue;
                };
                let selected = (0..judged.len()).filter(|&place| judged[place].verdict.is_run());
                let places = places_of_shard(&request, number, &judged, selected);
                shard.extend(places.into_iter().map(|place| ShardTest {
                    test: TestId::of_class(request.module.as_str(), judged[place].class.clone()),
                    millis: judged[place].millis,
                }));
            }
        }
        Ok(shards)
    }

    /// An order with the project's seed, or another where one is given.
    pub fn order_settings(&self, by: OrderBy, seed: Option<u64>) -> OrderSettings {
        OrderSettings {
            by,
            seed: seed.or(self.file.seed).unwrap_or_default(),
            ..OrderSettings::default()
        }
    }

    /// The tests that would run now, in the order in which they would, module
    /// by module.
    pub fn order(&self, order: &OrderSettings) -> Result<Vec<TestId>, ReadError> {
        let mut tests = Vec::new();
        for last in &self.last {
            let request = last.request_of_tests();
            let (judged, signatures) = self.judge_for_order(&request)?;
            let arranged = arrange(&request, order, &judged, Some(&signatures));
            let id = |class| TestId::of_class(request.module.as_str(), class);
            tests.extend(arranged.order.into_iter().map(id));
        }
        Ok(tests)
    }

    /// The tests of all tasks with what an order goes by.
    pub fn standings(&self) -> Result<Vec<Standing>, ReadError> {
        let mut standings = Vec::new();
        for last in &self.last {
            let request = last.request_of_tests();
            let (judged, signatures) = self.judge_for_order(&request)?;
            standings.extend(judged.into_iter().map(|test| Standing {
                test: TestId::of_class(request.module.as_str(), test.class.clone()),
                runs: test.verdict.is_run(),
                signature: signatures.of(&test.class),
                uses: test.facts.uses,
            }));
        }
        Ok(standings)
    }

    fn judge_for_order(
        &self,
        request: &TaskRequest,
    ) -> Result<(Vec<Judged>, Signatures), ReadError> {
        let signing = Signing::begin(&self.project, request);
        let (judged, snapshot) = self.judge_present(request, true)?;
        let signatures = signing.end(&snapshot, judged.iter().map(|test| &test.class));
        Ok((judged, signatures))
    }

    /// The verdicts on the tests of a task, and the classes that there are now.
    fn judge(
        &self,
        request: &TaskRequest,
        ledger: &Ledger<'_>,
        nearness: bool,
    ) -> Result<(Vec<Judged>, Snapshot), ReadError> {
        let variables = variables(request);
        let snapshot = take_snapshot(request, &self.project.root, &self.file, &variables);
        let environment = environment(request, &snapshot, &self.file, &variables);
        let classes = TestClasses::new(&snapshot, request, "");
        let rules = Rules {
            technique: self.technique,
            since: self.since.as_ref(),
            file: &self.file,
            full_run_due: false,
            recent_runs: recent_runs(&self.reader, self.technique, &self.file)?,
            nearness,
            entity: self.entity,
            methods: (!self.technique.is_static()).then_some(&classes),
        };
        let judged = judge_tests(request, &rules, &environment, &snapshot, ledger);
        Ok((judged, snapshot))
    }

    /// The same for the tests whose classes are still there.
    fn judge_present(
        &self,
        request: &TaskRequest,
        nearness: bool,
    ) -> Result<(Vec<Judged>, Snapshot), ReadError> {
        let ledger = self.reader.ledger(Some(&request.module))?;
        let (mut judged, snapshot) = self.judge(request, &ledger, nearness)?;
        judged.retain(|test| snapshot.class(&test.class).is_some());
        Ok((judged, snapshot))
    }

    fn of_task(&self, request: &TaskRequest) -> Result<Vec<Forecast>, ReadError> {
        let ledger = self.reader.ledger(Some(&request.module))?;
        let (judged, snapshot) = self.judge(request, &ledger, false)?;
        judged
            .into_iter()
            .flat_map(|judged| judged_parts(judged, self.entity))
            .map(|part| {
                let JudgedPart {
                    class,
                    method,
                    verdict,
                    methods,
                } = part;
                let prediction = match &verdict {
                    _ if snapshot.class(&class).is_none() => Prediction::Gone,
                    Verdict::Skip { .. } => Prediction::Skip,
                    Verdict::Run(_) => Prediction::Run {
                        reasons: reasons(&verdict),
                    },
                };
                let record = match verdict {
                    Verdict::Skip { record } => record,
                    Verdict::Run(_) => 0,
                };
                let test = TestId {
                    method,
                    ..TestId::of_class(request.module.as_str(), class)
                };
                let forecast = forecast(&ledger, test, prediction, record)?;
                Ok(Forecast {
                    methods,
                    ..forecast
                })
            })
            .collect()
    }

    /// How the classes that tests use have changed since they were recorded.
    /// `None` if no test has a record and is known to a build.
    pub fn changes(&self) -> Result<Option<ClassChanges>, ReadError> {
        let mut all: Option<ClassChanges> = None;
        for last in &self.last {
            let request = &last.request;
            let variables = variables(request);
            let snapshot = take_snapshot(request, &self.project.root, &self.file, &variables);
            let ledger = self.reader.ledger(Some(&request.module))?;
            let tests = ledger.tests().iter();
            let tests = tests.filter(|test| last.tests.contains(&test.id.class));
            if let Some(changes) = class_changes(&ledger, tests, &snapshot)? {
                all.get_or_insert_default().add(changes);
            }
        }
        Ok(all)
    }

    /// The classes that records use.
    pub fn used_classes(&self) -> Result<BTreeSet<ClassName>, ReadError> {
        let ledger = self.reader.ledger(None)?;
        let subjects = ledger.versions().subjects();
        Ok(subjects
            .filter_map(|subject| subject.class().map(ClassName::new))
            .collect())
    }

    /// The test classes whose newest record, or that of one of their methods,
    /// uses a class, or methods of a name in it. A record that was made from
    /// class files uses all methods of what the test leads to.
    pub fn tests_that_use(
        &self,
        class: &ClassName,
        method: Option<&str>,
    ) -> Result<Vec<TestId>, ReadError> {
        let ledger = self.reader.ledger(None)?;
        let mut versions = RoaringBitmap::new();
        for subject in ledger.versions().subjects() {
            if subject.class() != Some(class.as_str()) {
                continue;
            }
            let wanted = subject.versions().filter(|version| match method {
                None => version.kind != ElementKind::Lookup,
                Some(method) => match version.element() {
                    Ok(Element::Method(_, key)) => *key.name == *method,
                    // Class files tell what a test leads to, not what it calls
                    // there.
                    Ok(Element::Reachable(_)) => true,
                    _ => false,
                },
            });
            versions.extend(wanted.map(|version| version.id.0));
        }
        let mut tests = BTreeSet::new();
        for test in ledger.tests() {
            if let Some(newest) = ledger.records_of(test).first()
                && !ledger.uses(newest)?.is_disjoint(&versions)
            {
                let id = &test.id;
                tests.insert(TestId::of_class(id.module.clone(), id.class.clone()));
            }
        }
        Ok(tests.into_iter().collect())
    }
}

/// A class that was judged, or a method of one.
struct JudgedPart {
    class: ClassName,
    method: Option<Arc<str>>,
    verdict: Verdict,
    methods: Option<Parts>,
}

/// A class as one, or its methods one by one.
fn judged_parts(judged: Judged, entity: Entity) -> Vec<JudgedPart> {
    if judged.methods.is_empty() || entity == Entity::Class {
        return vec![JudgedPart {
            methods: judged.parts(),
            class: judged.class,
            method: None,
            verdict: judged.verdict,
        }];
    }
    let methods = judged.methods.into_iter();
    methods
        .map(|method| JudgedPart {
            class: judged.class.clone(),
            method: Some(method.name),
            verdict: method.verdict,
            methods: None,
        })
        .collect()
}

fn forecast(
    ledger: &Ledger<'_>,
    test: TestId,
    prediction: Prediction,
    record: usize,
) -> Result<Forecast, ReadError> {
    let known = ledger.test(&test);
    let record = known.and_then(|known| ledger.records_of(known).get(record));
    Ok(Forecast {
        test,
        prediction,
        record: record.map(|record| summary(ledger, record)).transpose()?,
        history: known.map(|known| known.history.clone()).unwrap_or_default(),
        doubts: known.map(|known| known.doubts.clone()).unwrap_or_default(),
        methods: None,
    })
}

fn summary(ledger: &Ledger<'_>, record: &KnownRecord) -> Result<RecordSummary, ReadError> {
    Ok(RecordSummary {
        made_at: record.made_at,
        millis: record.millis,
        revision: record.revision.as_deref().map(str::to_owned),
        uses: ledger.uses(record)?.len(),
    })
}
