//! What the annotations of a test class say of how its methods run.

use fewest_classfile::annotations::{Annotation, AnnotationValue};
use fewest_model::ClassName;

use super::{INSTANCE, ORDER, PARAMETERS, RUNNER};

pub(super) fn is_of_framework(annotation: &ClassName) -> bool {
    let name = annotation.as_str();
    name.starts_with("org/junit/") || name.starts_with("org/testng/")
}

/// Says why a class with such an annotation stays whole, if it does.
pub(super) fn check_annotation(annotation: &Annotation) -> Result<(), String> {
    const RUNNERS: [&str; 3] = [
        "org/junit/runners/JUnit4",
        "org/junit/runners/BlockJUnit4ClassRunner",
        "org/mockito/junit/jupiter/MockitoExtension",
    ];
    let name = annotation.class.as_str();
    let is_known_runner = |value: &AnnotationValue| matches!(value, AnnotationValue::Class(class) if RUNNERS.contains(&class.as_str()));
    let short = |package: &str| name.strip_prefix(package);
    if let Some(name) = short("org/junit/jupiter/") {
        return match name {
            "api/Test"
            | "api/BeforeEach"
            | "api/AfterEach"
            | "api/BeforeAll"
            | "api/AfterAll"
            | "api/DisplayName"
            | "api/DisplayNameGeneration"
            | "api/Tag"
            | "api/Tags"
            | "api/Disabled"
            | "api/Timeout"
            | "api/io/TempDir" => Ok(()),
            name if name.starts_with("api/condition/") => Ok(()),
            "api/extension/ExtendWith" => match annotation.value("value") {
                Some(AnnotationValue::List(all)) if all.iter().all(is_known_runner) => Ok(()),
                _ => Err(RUNNER.into()),
            },
            "api/extension/Extensions" | "api/extension/RegisterExtension" => Err(RUNNER.into()),
            "api/TestMethodOrder" | "api/Order" => Err(ORDER.into()),
            "api/TestInstance" => match annotation.value("value") {
                Some(AnnotationValue::Enum(value)) if value == "PER_METHOD" => Ok(()),
                _ => Err(INSTANCE.into()),
            },
            // Which classes it may stand on is looked at with them.
            "api/Nested" => Ok(()),
            "api/TestFactory" | "api/TestTemplate" | "api/RepeatedTest" => Err(PARAMETERS.into()),
            name if name.starts_with("params/") => Err(PARAMETERS.into()),
            _ => Err(unknown_annotation(&annotation.class)),
        };
    }
    if let Some(name) = short("org/testng/annotations/") {
        return match name {
            "Test" => check_testng_test(annotation),
            "BeforeMethod" | "AfterMethod" | "BeforeClass" | "AfterClass" | "BeforeSuite"
            | "AfterSuite" | "BeforeTest" | "AfterTest" => Ok(()),
            "DataProvider" | "Factory" | "Parameters" => Err(PARAMETERS.into()),
            "Listeners" | "Guice" | "ObjectFactory" => Err(RUNNER.into()),
            _ => Err(unknown_annotation(&annotation.class)),
        };
    }
    match short("org/junit/") {
        None
        | Some(
            "Test"
            | "Before"
            | "After"
            | "BeforeClass"
            | "AfterClass"
            | "Rule"
            | "ClassRule"
            | "Ignore"
            | "experimental/categories/Category",
        ) => Ok(()),
        Some("runner/RunWith") => match annotation.value("value") {
            Some(runner) if is_known_runner(runner) => Ok(()),
            _ => Err(RUNNER.into()),
        },
        Some("FixMethodOrder" | "runner/OrderWith") => Err(ORDER.into()),
        Some(name) if name.starts_with("experimental/theories/") => Err(PARAMETERS.into()),
        Some(_) => Err(unknown_annotation(&annotation.class)),
    }
}

fn unknown_annotation(class: &ClassName) -> String {
    format!("its annotation @{} may change how it runs", class.simple())
}

fn check_testng_test(annotation: &Annotation) -> Result<(), String> {
    for (name, _) in &annotation.elements {
        match name.as_str() {
            "description"
            | "enabled"
            | "expectedExceptions"
            | "expectedExceptionsMessageRegExp"
            | "timeOut"
            | "groups" => {}
            "dependsOnMethods" | "dependsOnGroups" | "priority" => return Err(ORDER.into()),
            "dataProvider" | "dataProviderClass" | "invocationCount" | "threadPoolSize"
            | "successPercentage" => return Err(PARAMETERS.into()),
            _ => return Err(unknown_annotation(&annotation.class)),
        }
    }
    Ok(())
}
